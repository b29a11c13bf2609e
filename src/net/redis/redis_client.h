// A Redis or Valkey client for one server: pipelines the commands of many callers onto one
// connection, and reconnects when it breaks. Subscriptions have their own connection.
//
// After a failure the caller must know whether the command may have been carried out. If the kernel
// had not taken any byte of it, it was not carried out. Otherwise its outcome is unknown, and the
// client never sends it again.
//
// If a connection no longer leads to a master (the server answers READONLY, or a sentinel names
// another one), no new command uses that connection. It ends when the commands already sent have
// their answers; new commands wait for the next connection. Without sentinels the next connection
// may lead to the same server, so it is made only after the waits below.
//
// While there is no connection, commands wait for the current attempt to connect, and fail with its
// error if it fails. The next attempt follows after a pause (100 ms, doubling up to 5 s, with
// jitter). A command sent during the pause fails at once with the last error.
//
// No message contains a password.
//
// Thread safety: none. Everything happens on the io_context's thread, callbacks included.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/redis/redis.h"
#include "net/tls/tls_options.h"

namespace boost::asio {
class io_context;
}

namespace tarry::net {

struct RedisAddress {
  std::string host;
  std::uint16_t port = 6379;
  friend bool operator==(const RedisAddress&, const RedisAddress&) = default;
};

/// Options of a server that sentinels watch.
struct RedisSentinelOptions {
  std::vector<RedisAddress> addresses;  // at least one
  std::string master;                   // the sentinels' name for it
  std::string user;                     // for the sentinels, as is the password
  std::string password;
};

struct RedisOptions {
  std::string host = "127.0.0.1";  // a host name or an address
  std::uint16_t port = 6379;
  std::string unix_path;  // if not empty, used instead of host and port
  /// If set, it replaces the three members above: the sentinels are asked for the address before
  /// each connection, and only a master is used.
  std::optional<RedisSentinelOptions> sentinels;
  bool is_sentinel = false;  // the server is a sentinel; for messages
  std::string user;          // empty: the server's default user
  std::string password;      // empty, and no user: no AUTH
  std::uint32_t database = 0;
  std::optional<TlsOptions> tls;
  std::int64_t connect_timeout_ms = 5'000;  // until AUTH and SELECT are answered
  // If no byte of a reply comes for this time, the connection counts as dead.
  std::int64_t command_timeout_ms = 10'000;
  std::size_t max_reply_bytes = 1ull << 30;  // of one whole reply
  std::string client_name = "tarry";         // CLIENT SETNAME; a refusal is ignored
};

class RedisClient final : public Redis {
 public:
  RedisClient(boost::asio::io_context& io, RedisOptions options);
  ~RedisClient() override;  // closes

  void send(RedisCommand command, Done done) override;
  void send(std::vector<RedisCommand> commands, Done done) override;
  /// Sends `replies` commands that are encoded already. `done` as above.
  void send(std::string_view bytes, std::size_t replies, Done done);
  void send_to_masters(RedisCommand command, EachDone done) override;
  void subscribe(RedisChannels kind, std::vector<std::string> channels, OnMessage on_message,
                 OnSubscribed on_subscribed) override;
  void close() override;
  [[nodiscard]] bool is_connected() const noexcept override;
  [[nodiscard]] std::uint64_t connections() const noexcept override;
  [[nodiscard]] std::string server() const override;

  /// Whether no command waits for a reply or for a connection.
  [[nodiscard]] bool is_idle() const noexcept;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tarry::net
