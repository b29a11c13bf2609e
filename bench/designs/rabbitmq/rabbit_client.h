// RabbitClient: the common part of the designs on RabbitMQ. A producer publishes persistent
// messages and waits for the confirms of a batch. A consumer gets up to 200 messages ahead of its
// acks; messages that it has not acked when its connection ends are delivered again. The queues are
// durable classic ones, which dead-letter by TTL; messages end in the queue `ready`.
//
// Thread safety: none.
#pragma once

#ifdef TARRY_WITH_RABBITMQ

#include <cstdint>
#include <string>
#include <string_view>

#include "designs/compared.h"
#include "designs/rabbit_connection.h"

namespace tarry::bench {

class RabbitClient : public Compared {
 public:
  RabbitClient(const Place& place, Role role);
  ~RabbitClient() override;
  RabbitClient(const RabbitClient&) = delete;
  RabbitClient& operator=(const RabbitClient&) = delete;

  std::unique_ptr<Claimed> claim(std::size_t max) override { return await(max, 0); }
  std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms) override;
  void settle(const Claimed& claimed) override;
  std::uint64_t requests() const override { return requests_; }

 protected:
  static constexpr std::string_view kReady = "ready";

  /// Makes an empty queue, even if it existed before.
  void make_queue(std::string_view name, std::int64_t ttl_ms, std::string_view dead_exchange,
                  std::string_view dead_key);
  void make_ready_queue() { make_queue(kReady, -1, {}, {}); }
  /// `ttl_ms` < 0: no TTL.
  void publish(std::string_view exchange, std::string_view key, std::string_view body,
               std::int64_t ttl_ms = -1);
  void wait_for_confirms();
  [[nodiscard]] amqp_connection_state_t state() const noexcept { return state_; }

  void rest(std::int64_t /*most_ms*/) override {}

 private:
  void begin_consuming();

  amqp_connection_state_t state_;
  const Role role_;
  bool consuming_ = false;
  Unconfirmed unconfirmed_;
  std::uint64_t requests_ = 0;
};

/// The time from now until `due_ms`. It is never too short, although `now_ms` cuts off a part of a
/// millisecond.
[[nodiscard]] std::int64_t delay_until(std::int64_t due_ms);

}  // namespace tarry::bench

#endif
