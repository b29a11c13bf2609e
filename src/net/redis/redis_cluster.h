// RedisCluster: a Redis or Valkey cluster as one server. Commands go to the node that serves their
// first key's slot; those without a key to any.
//
// The client reads the slot map with the first command, after a MOVED, and when a node cannot be
// reached. A redirected command (MOVED, ASK) was not carried out; the client follows the
// redirection, a few times at most. While a slot moves and its keys are on both sides (TRYAGAIN),
// it sends the command again until `command_timeout_ms` is over; then the error is the answer. A
// command that could not be sent is sent once more if the new map names another node. A command
// that may have been carried out is never sent again.
//
// For several commands in one `send`, only the last answer counts. If commands of a MULTI were
// redirected, it is EXECABORT, which the caller gets; if EXEC itself is redirected, the server has
// discarded the whole transaction, and all of it is redirected.
//
// Sharded channels are subscribed to at the nodes that serve their slots; plain ones at any node.
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
  /// `seeds`: some of its nodes, at least one. `options`: for every node, except host and port.
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
