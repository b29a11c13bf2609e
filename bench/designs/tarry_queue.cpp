#include "designs/tarry_queue.h"

#include <utility>

#include "harness/must.h"

namespace tarry::bench {
namespace {

class Deliveries final : public Claimed {
 public:
  explicit Deliveries(std::vector<Delivery> deliveries) : deliveries_(std::move(deliveries)) {}
  std::size_t size() const override { return deliveries_.size(); }
  std::uint64_t proof() const override {
    std::uint64_t sum = 0;
    for (const Delivery& delivery : deliveries_) sum += proof_of(delivery.payload());
    return sum;
  }
  const std::vector<Delivery>& deliveries() const { return deliveries_; }

 private:
  std::vector<Delivery> deliveries_;
};

class TarryQueue final : public Design {
 public:
  explicit TarryQueue(Store store) : store_(std::move(store)), queue_(store_.queue("bench")) {}

  void push(std::span<const Message> batch) override {
    std::vector<Push> pushes;
    pushes.reserve(batch.size());
    for (const Message& message : batch) {
      Push& push = pushes.emplace_back();
      push.key = message.key;
      push.payload = message.payload;
      push.due = Due::at(Time(Millis(message.due_ms)));
    }
    for (const auto& pushed : must(queue_.push(pushes), "push")) {
      must(pushed && pushed->outcome == Outcome::pushed, "each message is new");
    }
  }

  std::unique_ptr<Claimed> claim(std::size_t max) override {
    ClaimOptions options;
    options.max = static_cast<std::uint32_t>(max);
    return std::make_unique<Deliveries>(must(queue_.claim(options), "claim"));
  }

  void settle(const Claimed& claimed) override {
    std::vector<Settle> settles;
    settles.reserve(claimed.size());
    for (const Delivery& delivery : static_cast<const Deliveries&>(claimed).deliveries()) {
      settles.emplace_back().receipt = delivery.receipt();
    }
    for (const auto& settled : must(queue_.settle(settles), "settle")) {
      must(settled && settled->outcome == Outcome::done, "each claim is live");
    }
  }

 private:
  Store store_;
  Queue queue_;
};

}  // namespace

std::unique_ptr<Design> make_tarry_queue(Store store) {
  return std::make_unique<TarryQueue>(std::move(store));
}

std::unique_ptr<Design> make_tarry_queue(const std::string& path, Sync sync,
                                         const std::string& options) {
  const std::string policy = sync == Sync::always ? "always" : "os";
  return make_tarry_queue(must(open("file:" + path + "?sync=" + policy + options), "open"));
}

}  // namespace tarry::bench
