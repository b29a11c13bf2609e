// PlainPublisher: what a program does that publishes to RabbitMQ by hand and means it: persistent
// messages on one channel in confirm mode, up to so many without a confirmation at once.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <amqp.h>

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
  [[nodiscard]] std::uint64_t unconfirmed() const noexcept { return sent_ - confirmed_; }
  /// Returns once there are no more than so many.
  void wait_until_unconfirmed(std::uint64_t most);

 private:
  void take_a_frame();

  amqp_connection_state_t state_;
  std::uint64_t sent_ = 0;
  std::uint64_t confirmed_ = 0;  // all up to this one: on one channel the broker's order is ours
};

}  // namespace tarry::bench
