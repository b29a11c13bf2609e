// S14 without its head-of-line blocking: a ladder of 25 waiting queues whose TTLs are 100 ms times
// the powers of two. The routing key spells the delay in bits; at each rung a topic exchange routes
// by one bit: 1 into the rung's queue, 0 on to the next exchange. A message that expires in a queue
// goes to the next rung's exchange. All messages of a queue wait equally long, so none waits behind
// another. A delay is rounded up to 100 ms; the longest is 38 days.
#ifdef TARRY_WITH_RABBITMQ

#include <algorithm>
#include <bit>
#include <string>

#include "designs/openers.h"
#include "designs/rabbitmq/rabbit_client.h"

namespace tarry::bench {
namespace {

class TtlLadder final : public RabbitClient {
 public:
  using RabbitClient::RabbitClient;

  void clear() override {
    make_ready_queue();
    for (int rung = 0; rung < kRungs; ++rung) {
      const std::string name = name_of(rung);
      amqp_exchange_declare(state(), kRabbitChannel, amqp_view(name), amqp_view("topic"), 0, 1, 0,
                            0, amqp_empty_table);
      must_be_well(state(), "an exchange is declared");
      make_queue(name, kBaseMs << rung, rung == 0 ? "" : name_of(rung - 1),
                 rung == 0 ? kReady : "");
      bind_queue(name, name, pattern(rung, '1'));
    }
    for (int rung = 0; rung < kRungs; ++rung) {
      if (rung == 0) {
        bind_queue(kReady, name_of(0), pattern(0, '0'));
        continue;
      }
      amqp_exchange_bind(state(), kRabbitChannel, amqp_view(name_of(rung - 1)),
                         amqp_view(name_of(rung)), amqp_view(pattern(rung, '0')), amqp_empty_table);
      must_be_well(state(), "an exchange is bound");
    }
  }
  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) {
      const auto steps =
          static_cast<std::uint64_t>((delay_until(message.due_ms) + kBaseMs - 1) / kBaseMs);
      const auto delay = std::min(steps, (std::uint64_t{1} << kRungs) - 1);
      if (delay == 0) {
        publish({}, kReady, message.payload);
        continue;
      }
      publish(name_of(static_cast<int>(std::bit_width(delay)) - 1), bits(delay), message.payload);
    }
    wait_for_confirms();
  }

 private:
  static constexpr int kRungs = 25;
  static constexpr std::int64_t kBaseMs = 100;

  static std::string name_of(int rung) { return "ladder." + std::to_string(rung); }
  // The bits of a delay, the highest rung's first: "0.0.1. ... .1".
  static std::string bits(std::uint64_t delay) {
    std::string key;
    for (int rung = kRungs - 1; rung >= 0; --rung) {
      key += (delay >> rung & 1) != 0 ? '1' : '0';
      if (rung > 0) key += '.';
    }
    return key;
  }
  // The pattern for one rung's bit, with any bits before and after it.
  static std::string pattern(int rung, char bit) {
    std::string words;
    for (int above = kRungs - 1; above > rung; --above) words += "*.";
    words += bit;
    if (rung > 0) words += ".#";
    return words;
  }
  void bind_queue(std::string_view queue, std::string_view exchange, const std::string& key) {
    amqp_queue_bind(state(), kRabbitChannel, amqp_view(queue), amqp_view(exchange), amqp_view(key),
                    amqp_empty_table);
    must_be_well(state(), "a queue is bound");
  }
};

}  // namespace

Opened open_ttl_ladder(const Place& place, Role role) {
  return std::make_unique<TtlLadder>(place, role);
}

}  // namespace tarry::bench

#endif
