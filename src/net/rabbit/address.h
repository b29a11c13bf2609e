// Where a RabbitMQ broker is, and how to log in. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tarry::net {

struct RabbitTls {
  std::string ca_file;           // PEM; empty: the system's bundle, at Debian's path
  std::string certificate_file;  // PEM, for brokers that require one; empty: none
  std::string key_file;          // PEM
};

struct RabbitAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 5672;
  std::string vhost = "/";
  std::string user = "guest";
  std::string password = "guest";
  std::optional<RabbitTls> tls;
  std::uint16_t heartbeat_s = 10;  // 1 .. 3600; after two missing heartbeats the connection is dead
  std::int64_t connect_timeout_ms = 5'000;
  std::int64_t confirm_timeout_ms = 30'000;  // if no answer comes for this time, the connection
                                             // is dead
};

}  // namespace tarry::net
