// S14: RabbitMQ with a TTL for each message: `expiration` is the delay, and a message that expires
// in the waiting queue is dead-lettered to the ready one. RabbitMQ expires messages of a classic
// queue only at its head, so a short delay waits behind a long one.
#ifdef TARRY_WITH_RABBITMQ

#include "designs/openers.h"
#include "designs/rabbitmq/rabbit_client.h"

namespace tarry::bench {
namespace {

class MessageTtl final : public RabbitClient {
 public:
  using RabbitClient::RabbitClient;

  void clear() override {
    make_ready_queue();
    make_queue(kWaiting, -1, {}, kReady);
  }
  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) {
      publish({}, kWaiting, message.payload, delay_until(message.due_ms));
    }
    wait_for_confirms();
  }

 private:
  static constexpr std::string_view kWaiting = "waiting";
};

}  // namespace

Opened open_message_ttl(const Place& place, Role role) {
  return std::make_unique<MessageTtl>(place, role);
}

}  // namespace tarry::bench

#endif
