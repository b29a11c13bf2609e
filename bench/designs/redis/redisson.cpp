// S11: the real Redisson (redisson_process.h). A popped message is gone.
#include "designs/openers.h"
#include "designs/redisson_process.h"

namespace tarry::bench {
namespace {

class RealRedisson final : public Compared {
 public:
  explicit RealRedisson(const Place& place) : process_(place.redis_port) {}

  void push(std::span<const Message> batch) override { process_.push(batch); }
  std::unique_ptr<Claimed> claim(std::size_t max) override { return await(max, 0); }
  std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms) override {
    auto taken = std::make_unique<Taken>();
    taken->payloads = process_.pop(max, most_ms);
    return taken;
  }
  void settle(const Claimed& /*claimed*/) override {}
  bool cancel(const Message& message) override { return process_.remove(message.payload); }

 private:
  void rest(std::int64_t /*most_ms*/) override {}

  RedissonProcess process_;
};

}  // namespace

Opened open_redisson(const Place& place, Role /*role*/) {
  return std::make_unique<RealRedisson>(place);
}

}  // namespace tarry::bench
