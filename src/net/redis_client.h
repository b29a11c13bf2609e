// A Redis or Valkey client for one server: commands of many callers pipelined onto one connection,
// which is made anew when it breaks; and, on a connection of its own, subscriptions.
//
// What matters to the caller when something fails is whether the command may have been carried out.
// One of which no byte had been given to the kernel was not. Of any other nobody knows: it is never
// sent again here.
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
#include <variant>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/redis_command.h"
#include "net/redis_reply.h"

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

struct RedisOptions {
  std::string host = "127.0.0.1";  // a name or an address
  std::uint16_t port = 6379;
  std::string unix_path;  // not empty: instead of host and port
  std::string user;       // empty: the server's default user
  std::string password;   // empty, and no user: no AUTH
  std::uint32_t database = 0;
  std::optional<RedisTls> tls;
  std::int64_t connect_timeout_ms = 5'000;   // until AUTH and SELECT are answered
  std::int64_t command_timeout_ms = 10'000;  // without a byte of what was asked for: the connection
                                             // is taken for dead
  std::size_t max_reply_bytes = 1ull << 30;  // of one reply, with all that is in it
  std::string client_name = "tarry";         // CLIENT SETNAME; a server that refuses it is no fault
};

/// `unavailable` when it was not sent, `unknown_outcome` when it may have been carried out,
/// `permission_denied` where the server refused user or password, `invalid_argument` where what
/// answers is not Redis, is not trusted, or has no such database, `closed` after `close`. The
/// message names the server.
struct RedisFailure {
  Error error;
  bool sent = false;
};

/// A server's error ("-NOSCRIPT ...") is a reply like others.
using RedisAnswer = std::variant<RedisReply, RedisFailure>;

class RedisClient {
 public:
  /// Runs exactly once a command, never within `send`.
  using Done = base::UniqueFunction<void(RedisAnswer)>;
  using OnMessage = base::UniqueFunction<void(std::string_view channel, std::string_view message)>;
  /// The subscription stands (again): what was published before this may have been missed.
  using OnSubscribed = base::UniqueFunction<void()>;

  RedisClient(boost::asio::io_context& io, RedisOptions options);
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;
  ~RedisClient();  // closes

  /// Replies come in the order of sending.
  void send(RedisCommand command, Done done);

  /// Several commands whose replies belong together (MULTI ... EXEC): they follow each other on the
  /// wire with nothing between them. `done` gets the last one's reply, or the first failure.
  void send(std::vector<RedisCommand> commands, Done done);

  /// Keeps a subscription to these channels for good, through broken connections. Once at most.
  void subscribe(std::vector<std::string> channels, OnMessage on_message,
                 OnSubscribed on_subscribed);

  /// Fails what is outstanding, and closes. `send` fails from then on.
  void close();

  /// There is a connection for commands now; and how many there have been. What was learned of a
  /// server through one need not hold on the next: it may have been restarted, and lost what it
  /// knew.
  [[nodiscard]] bool is_connected() const noexcept;
  [[nodiscard]] std::uint64_t connections() const noexcept;

  /// "127.0.0.1:6379" or "/run/redis.sock": for messages.
  [[nodiscard]] std::string server() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tarry::net
