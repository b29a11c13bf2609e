// S1: the timed ZSET scan. `ZADD q due task`; a timer reads up to 1,000 due tasks, again and again
// until there are none. A task belongs to the client whose ZREM answers 1. The source's timer fires
// every 5 s, or every second if that is too late; here it is a second.
#include "designs/redis/zset_scan.h"

#include <vector>

#include "designs/openers.h"
#include "harness/wall.h"

namespace tarry::bench {

void ZsetScan::push(std::span<const Message> batch) {
  for (const Message& message : batch) {
    send({"ZADD", zset_of(message.payload), std::to_string(message.due_ms), message.payload});
  }
  run();
}

std::unique_ptr<Claimed> ZsetScan::claim(std::size_t /*max*/) {
  auto taken = std::make_unique<Taken>();
  if (tasks_.empty()) {
    std::vector<std::string> due;
    fetch({"ZRANGEBYSCORE", scanned(), "0", std::to_string(now_ms()), "LIMIT", "0", "1000"}, due);
    tasks_.assign(std::make_move_iterator(due.begin()), std::make_move_iterator(due.end()));
  }
  while (!tasks_.empty() && taken->size() == 0) {
    std::string task = std::move(tasks_.front());
    tasks_.pop_front();
    if (number({"ZREM", scanned(), task}) == 1) taken->payloads.push_back(std::move(task));
  }
  return taken;
}

bool ZsetScan::cancel(const Message& message) {
  return number({"ZREM", zset_of(message.payload), message.payload}) == 1;
}

bool ZsetScan::reschedule(const Message& message, std::int64_t due_ms) {
  return number({"ZADD", zset_of(message.payload), "XX", "CH", std::to_string(due_ms),
                 message.payload}) == 1;
}

namespace {

class OneZset final : public ZsetScan {
 public:
  using ZsetScan::ZsetScan;

 private:
  static constexpr std::int64_t kScanMs = 1'000;

  std::string zset_of(std::string_view /*member*/) const override { return name_; }
  const std::string& scanned() const override { return name_; }
  void rest(std::int64_t most_ms) override { sleep(kScanMs, most_ms); }

  const std::string name_ = "delayqueue";
};

}  // namespace

Opened open_zset_scan(const Place& place, Role /*role*/) {
  return std::make_unique<OneZset>(place);
}

}  // namespace tarry::bench
