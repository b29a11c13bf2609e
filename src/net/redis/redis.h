// Redis: the interface that sends commands to one server, or to the servers of a cluster, and keeps
// a subscription there. Implemented by redis_client.h and redis_cluster.h.
//
// Thread safety: none. Everything happens on the io_context's thread, callbacks included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/redis/protocol/redis_command.h"
#include "net/redis/protocol/redis_reply.h"

namespace tarry::net {

/// Why a command has no reply: `unavailable` if it was not sent; `unknown_outcome` if it may have
/// been carried out; `permission_denied` if the server refused user or password; `invalid_argument`
/// if the server is not Redis, is not trusted, or has no such database; `closed` after `close`. The
/// message names the server.
struct RedisFailure {
  Error error;
  bool sent = false;
};

/// A server's error ("-NOSCRIPT ...") is a normal reply.
using RedisAnswer = std::variant<RedisReply, RedisFailure>;

/// A sharded channel belongs to a slot, as a key does (Redis 7.0 and later).
enum class RedisChannels : std::uint8_t { plain, sharded };

class Redis {
 public:
  /// Runs exactly once per command, never within `send`.
  using Done = base::UniqueFunction<void(RedisAnswer)>;
  using OnMessage = base::UniqueFunction<void(std::string_view channel, std::string_view message)>;
  /// Called when the subscription has become active, the first time or again. Messages published
  /// before this call may have been missed.
  using OnSubscribed = base::UniqueFunction<void()>;

  Redis() = default;
  Redis(const Redis&) = delete;
  Redis& operator=(const Redis&) = delete;
  virtual ~Redis() = default;

  /// Replies come in the order in which commands were sent; in a cluster, this holds for each node.
  virtual void send(RedisCommand command, Done done) = 0;

  /// Sends several commands that belong together (MULTI ... EXEC); no other command is sent between
  /// them. `done` gets the reply of the last one, or the first failure.
  virtual void send(std::vector<RedisCommand> commands, Done done) = 0;

  /// Runs one command on each master; in a cluster, on each master that serves slots. `done` runs
  /// once, when all have answered. If the masters are not known, it gets one failure.
  struct NodeAnswer {
    std::string server;  // as `server` spells it
    RedisAnswer answer;
  };
  using EachDone = base::UniqueFunction<void(std::vector<NodeAnswer>)>;
  virtual void send_to_masters(RedisCommand command, EachDone done) = 0;

  /// Keeps a subscription to these channels, even if connections break. May be called at most once.
  virtual void subscribe(RedisChannels kind, std::vector<std::string> channels,
                         OnMessage on_message, OnSubscribed on_subscribed) = 0;

  /// Fails outstanding commands, and closes. `send` fails from then on.
  virtual void close() = 0;

  /// `is_connected` says whether commands can be carried out now, as far as is known. The number
  /// `connections` grows with every new connection, and in a cluster with every broken one too.
  /// When it has grown, facts about the servers may no longer be true, because a server may have
  /// restarted and lost its data.
  [[nodiscard]] virtual bool is_connected() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t connections() const noexcept = 0;

  /// The server's name in messages: "127.0.0.1:6379", "/run/redis.sock", or, for a master that
  /// sentinels watch, "orders (10.0.0.7:6379)".
  [[nodiscard]] virtual std::string server() const = 0;
};

}  // namespace tarry::net
