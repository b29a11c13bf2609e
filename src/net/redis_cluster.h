// RedisCluster: a Redis or Valkey cluster as one server. Commands go to the node that serves their
// first key's slot; those without a key to any.
//
// The slot map is asked for with the first command, after a MOVED, and when a node cannot be
// reached. A command that was redirected (MOVED, ASK) was not carried out, and goes where it was
// sent to, a few times at most; while a slot moves and its keys are on both sides (TRYAGAIN) it is
// sent again until `command_timeout_ms` is over, and then the error is the answer. One that could
// not be sent goes out once more where the new map names another node. What may have been carried
// out is never sent again.
//
// Of several commands in one `send`, only the last one's answer is looked at. Of a MULTI whose
// commands were redirected that is EXECABORT, which is the caller's; where EXEC itself is, the
// server has discarded all of it, and all of it goes on.
//
// Sharded channels are subscribed to at the nodes that serve their slots; plain ones at any node.
//
// Thread safety: none. Everything happens on the io_context's thread, callbacks included.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/redis.h"
#include "net/redis_client.h"

namespace tarry::net {

class RedisCluster final : public Redis {
 public:
  /// `seeds`: some of its nodes, at least one. `options`: of every node, but for host and port.
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
