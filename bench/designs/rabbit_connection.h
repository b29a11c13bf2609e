// The first steps of programs that use RabbitMQ by hand: one connection, one channel.
#pragma once

#ifdef TARRY_WITH_RABBITMQ

#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#else
#include <amqp.h>
#endif

#include <cstdint>
#include <set>
#include <string_view>

namespace tarry::bench {

inline constexpr amqp_channel_t kRabbitChannel = 1;

/// Makes a connection to 127.0.0.1 with an open channel; the caller destroys it.
[[nodiscard]] amqp_connection_state_t connected_to_rabbit(std::uint16_t port);

[[nodiscard]] inline amqp_bytes_t amqp_view(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};  // the library only reads it
}

/// If the last method failed, ends the program and says that `what` does not hold.
void must_be_well(amqp_connection_state_t state, std::string_view what);

/// The messages of a channel in confirm mode that the broker has not confirmed. Messages to several
/// queues are confirmed in any order.
class Unconfirmed {
 public:
  /// Call `add` right after each publish on `kRabbitChannel`.
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
