// RedisCluster: a Redis or Valkey cluster as one server. A command goes to the node that serves the
// slot of its first key; a command without a key goes to any node.
//
// The client reads the slot map with the first command, after a MOVED, and when a node cannot be
// reached. A redirected command (MOVED, ASK) was not carried out; the client follows the
// redirection, a few times at most. While a slot moves and a command's keys are on both nodes
// (TRYAGAIN), the client repeats the command until `command_timeout_ms` has passed; then it answers
// with that error. A command that could not be sent is sent once more if the new map names another
// node. A command that may have been carried out is never sent again.
//
// If one `send` has several commands, only the last answer counts. If commands within a MULTI were
// redirected, that answer is EXECABORT, which the caller gets. If EXEC itself is redirected, the
// server has discarded the transaction, and the client sends all of it to the other node.
//
// The client subscribes to sharded channels at the nodes that serve their slots, and to plain
// channels at any node.
//
// Thread safety: none. Everything happens on the io_context's thread, callbacks included.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/redis/redis.h"
#include "net/redis/redis_client.h"

namespace tarry::net {

class RedisCluster final : public Redis {
 public:
  /// `seeds`: some of the cluster's nodes, at least one. `options`: for every node; host and port
  /// are ignored.
  RedisCluster(boost::asio::io_context& io, std::vector<RedisAddress> seeds, RedisOptions options);
  ~RedisCluster() override;  // closes

  void send(RedisCommand command, Done done) override;
  void send(std::vector<RedisCommand> commands, Done done) override;
  void send_to_masters(RedisCommand command, EachDone done) override;
  void subscribe(RedisChannels kind, std::vector<std::string> channels, OnMessage on_message,
                 OnSubscribed on_subscribed) override;
  void close() override;
  [[nodiscard]] bool is_connected() const noexcept override;
  [[nodiscard]] std::uint64_t connections() const noexcept override;
  [[nodiscard]] std::string server() const override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tarry::net
