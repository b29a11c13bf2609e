// S14: RabbitMQ with a TTL for each queue: some fixed delays, each with a waiting queue, so that
// the message at the head of a queue always expires first. A delay is rounded up to the next fixed
// one: every second up to ten, and above that steps like RocketMQ's levels.
#ifdef TARRY_WITH_RABBITMQ

#include <algorithm>
#include <string>

#include "designs/openers.h"
#include "designs/rabbitmq/rabbit_client.h"

namespace tarry::bench {
namespace {

class QueueTtl final : public RabbitClient {
 public:
  using RabbitClient::RabbitClient;

  void clear() override {
    make_ready_queue();
    for (const std::int64_t seconds : kDelays) {
      make_queue(queue_of(seconds), seconds * 1'000, {}, kReady);
    }
  }
  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) {
      const std::int64_t delay_ms = delay_until(message.due_ms);
      if (delay_ms == 0) {
        publish({}, kReady, message.payload);
        continue;
      }
      const auto* const fitting = std::ranges::lower_bound(kDelays, (delay_ms + 999) / 1'000);
      publish({},
              queue_of(fitting == std::end(kDelays) ? kDelays[std::size(kDelays) - 1] : *fitting),
              message.payload);
    }
    wait_for_confirms();
  }

 private:
  static constexpr std::int64_t kDelays[] = {
      1,     2,      3,      4,      5,          6,          7,          8,     9,
      10,    20,     30,     60,     120,        300,        600,        1'800, 3'600,
      7'200, 21'600, 43'200, 86'400, 2 * 86'400, 7 * 86'400, 30 * 86'400};

  static std::string queue_of(std::int64_t seconds) { return "waiting." + std::to_string(seconds); }
};

}  // namespace

Opened open_queue_ttl(const Place& place, Role role) {
  return std::make_unique<QueueTtl>(place, role);
}

}  // namespace tarry::bench

#endif
