// A Redis or Valkey client for one server: commands of many callers pipelined onto one connection,
// which is made anew when it breaks; and, on a connection of its own, subscriptions.
//
// What matters to the caller when something fails is whether the command may have been carried out.
// One of which no byte had been given to the kernel was not. Of any other nobody knows: it is never
// sent again here.
//
// A connection that turns out to lead to a master no more (it answers READONLY, or a sentinel names
// another one) is used no more: it ends once what was sent has its answers, and what comes
// meanwhile waits for the next one. Without sentinels that is done again after the waits below, not
// sooner: the next one may lead to the same server.
//
// While there is no connection, commands wait for the attempt that is being made, and fail with its
// error when it fails. After a failed attempt the next one waits (100 ms, doubling up to 5 s, with
// jitter); commands sent meanwhile fail at once with the last error.
//
// Passwords are in no message.
//
// Thread safety: none. Everything happens on the io_context's thread, callbacks included.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/redis.h"

namespace boost::asio {
class io_context;
}

namespace tarry::net {

struct RedisTls {
  std::string ca_file;           // PEM; empty: the system's
  std::string certificate_file;  // PEM, for servers that ask for one; empty: none
  std::string key_file;          // PEM
  std::string server_name;       // checked, and sent as SNI; empty: the host
};

struct RedisAddress {
  std::string host;
  std::uint16_t port = 6379;
  friend bool operator==(const RedisAddress&, const RedisAddress&) = default;
};

/// Who know where the master is.
struct RedisSentinelOptions {
  std::vector<RedisAddress> addresses;  // at least one
  std::string master;                   // their name for it
  std::string user;                     // theirs, as the password
  std::string password;
};

struct RedisOptions {
  std::string host = "127.0.0.1";  // a name or an address
  std::uint16_t port = 6379;
  std::string unix_path;  // not empty: instead of host and port
  /// Instead of all three: asked before each connection, of which only a master's is used.
  std::optional<RedisSentinelOptions> sentinels;
  bool is_sentinel = false;  // that server itself, for messages
  std::string user;          // empty: the server's default user
  std::string password;      // empty, and no user: no AUTH
  std::uint32_t database = 0;
  std::optional<RedisTls> tls;
  std::int64_t connect_timeout_ms = 5'000;   // until AUTH and SELECT are answered
  std::int64_t command_timeout_ms = 10'000;  // without a byte of what was asked for: the connection
                                             // is taken for dead
  std::size_t max_reply_bytes = 1ull << 30;  // of one reply, with all that is in it
  std::string client_name = "tarry";         // CLIENT SETNAME; a server that refuses it is no fault
};

class RedisClient final : public Redis {
 public:
  RedisClient(boost::asio::io_context& io, RedisOptions options);
  ~RedisClient() override;  // closes

  void send(RedisCommand command, Done done) override;
  void send(std::vector<RedisCommand> commands, Done done) override;
  /// `replies` commands, encoded; `done` as above.
  void send(std::string_view bytes, std::size_t replies, Done done);
  void send_to_masters(RedisCommand command, EachDone done) override;
  void subscribe(RedisChannels kind, std::vector<std::string> channels, OnMessage on_message,
                 OnSubscribed on_subscribed) override;
  void close() override;
  [[nodiscard]] bool is_connected() const noexcept override;
  [[nodiscard]] std::uint64_t connections() const noexcept override;
  [[nodiscard]] std::string server() const override;

  /// Nothing waits for a reply, or for a connection.
  [[nodiscard]] bool is_idle() const noexcept;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tarry::net
