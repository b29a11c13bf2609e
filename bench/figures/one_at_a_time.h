// One message at a time: connections that each push one message, claim one, settle it, and begin
// again, with one request under way on each. One thread serves them all, so that the client costs
// the machine little.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarry::bench {

/// The protocol of the server. NATS has to have what NatsHost makes.
enum class Spoken { http, beanstalk, nats };

struct OneAtATime {
  std::size_t lives = 20'000;
  std::size_t connections = 32;
  std::size_t payload = 100;  // bytes
  bool push_only = false;     // a life ends with its push, and the messages stay
};

/// Lives a second against the server on that port of 127.0.0.1. A fault ends the program.
[[nodiscard]] double live_one_at_a_time(Spoken spoken, std::uint16_t port, const OneAtATime& shape);

}  // namespace tarry::bench
