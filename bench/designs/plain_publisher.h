// PlainPublisher: publishes to RabbitMQ by hand, as a careful program does: persistent messages on
// one channel in confirm mode, with a limit for messages that are not confirmed yet.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "designs/rabbit_connection.h"

namespace tarry::bench {

class PlainPublisher {
 public:
  explicit PlainPublisher(std::uint16_t port);
  ~PlainPublisher();
  PlainPublisher(const PlainPublisher&) = delete;
  PlainPublisher& operator=(const PlainPublisher&) = delete;

  /// Makes a durable, empty queue.
  void make_queue(const std::string& queue);
  /// Returns how many messages it had.
  std::uint64_t remove_queue(const std::string& queue);

  void publish(const std::string& queue, std::uint64_t id, std::string_view body);
  [[nodiscard]] std::uint64_t unconfirmed() const noexcept { return unconfirmed_.count(); }
  /// Returns once at most `most` messages are not confirmed.
  void wait_until_unconfirmed(std::uint64_t most);

 private:
  amqp_connection_state_t state_;
  Unconfirmed unconfirmed_;
};

}  // namespace tarry::bench
