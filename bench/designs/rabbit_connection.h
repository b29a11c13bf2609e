// What programs that speak to RabbitMQ by hand begin with: one connection, one channel.
#pragma once

#ifdef TARRY_WITH_RABBITMQ

#include <amqp.h>

#include <cstdint>
#include <set>
#include <string_view>

namespace tarry::bench {

inline constexpr amqp_channel_t kRabbitChannel = 1;

/// A connection to 127.0.0.1 with an open channel; the caller destroys it.
[[nodiscard]] amqp_connection_state_t connected_to_rabbit(std::uint16_t port);

[[nodiscard]] inline amqp_bytes_t amqp_view(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};  // the library only reads it
}

/// Ends the program, saying `what` does not hold, where the last method failed.
void must_be_well(amqp_connection_state_t state, std::string_view what);

/// The messages of a channel in confirm mode that the broker has not confirmed. Messages to several
/// queues are confirmed in any order.
class Unconfirmed {
 public:
  /// Right after each publish on `kRabbitChannel`.
  void add() { open_.insert(open_.end(), ++sent_); }
  [[nodiscard]] std::size_t count() const noexcept { return open_.size(); }
  /// Waits for the broker's next confirm.
  void take(amqp_connection_state_t state);

 private:
  std::uint64_t sent_ = 0;
  std::set<std::uint64_t> open_;
};

}  // namespace tarry::bench

#endif
