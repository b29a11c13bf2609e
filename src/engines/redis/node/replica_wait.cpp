#include "engines/redis/node/replica_wait.h"

#include <utility>
#include <variant>

namespace tarry::redis {

Error ReplicaWait::in_doubt(const net::Redis& server, const std::string& why) {
  return {ErrorCode::unknown_outcome, "Redis at " + server.server() + " has done it, but " + why};
}

void ReplicaWait::confirm(const net::RedisOrigin& wrote, Done done) {
  const std::shared_ptr<net::Redis> node = wrote.node.lock();
  if (wrote.is_node && node == nullptr) {
    return done(in_doubt(redis_, "its node has left the cluster"));
  }
  net::Redis& server = node ? *node : redis_;
  At& at = at_[&server];
  at.node = node;
  at.waiting.push_back({std::move(done), server.connections()});
  if (!at.asked) ask(server);
}

void ReplicaWait::ask(net::Redis& server) {
  At& at = at_.at(&server);
  at.asked = true;
  auto asked = std::make_shared<std::vector<Waiting>>(std::exchange(at.waiting, {}));
  net::RedisCommand wait("WAIT");
  wait.add(std::int64_t{wish_.replicas}).add(wish_.timeout_ms);
  server.send(
      std::move(wait), [this, &server, node = at.node, asked](const net::RedisAnswer& answer) {
        const Result<void> said = read(server, answer);
        const std::uint64_t now = server.connections();
        for (Waiting& one : *asked) {
          // A new connection has written nothing, so its WAIT says nothing about these writes.
          if (said && one.connection != now) {
            one.done(in_doubt(server, "the connection was lost before the replicas were asked"));
          } else {
            one.done(said);
          }
        }
        At& here = at_.at(&server);
        here.asked = false;
        if (!here.waiting.empty()) return ask(server);
        at_.erase(&server);
      });
}

Result<void> ReplicaWait::read(const net::Redis& server, const net::RedisAnswer& answer) const {
  if (const auto* failure = std::get_if<net::RedisFailure>(&answer)) {
    return in_doubt(server, "the replicas could not be asked: " + failure->error.message);
  }
  const net::RedisView view = std::get<net::RedisReply>(answer).view();
  if (view.kind() != net::RedisView::Kind::integer) {
    return in_doubt(server, "the replicas could not be asked: " + std::string(view.text()));
  }
  if (view.integer() >= std::int64_t{wish_.replicas}) return {};
  return in_doubt(server, "only " + std::to_string(view.integer()) + " of " +
                              std::to_string(wish_.replicas) + " replicas had it within " +
                              std::to_string(wish_.timeout_ms) + " ms");
}

}  // namespace tarry::redis
