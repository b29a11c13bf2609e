// PlainPublisher: what a program does that publishes to RabbitMQ by hand and means it: persistent
// messages on one channel in confirm mode, up to so many without a confirmation at once.
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

  /// Durable, and empty.
  void make_queue(const std::string& queue);
  /// How many messages it had.
  std::uint64_t remove_queue(const std::string& queue);

  void publish(const std::string& queue, std::uint64_t id, std::string_view body);
  [[nodiscard]] std::uint64_t unconfirmed() const noexcept { return unconfirmed_.count(); }
  /// Returns once there are no more than so many.
  void wait_until_unconfirmed(std::uint64_t most);

 private:
  amqp_connection_state_t state_;
  Unconfirmed unconfirmed_;
};

}  // namespace tarry::bench
