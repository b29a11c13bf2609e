#include "engines/redis/replica_wait.h"

#include <memory>
#include <utility>
#include <variant>

namespace tarry::redis {

Error ReplicaWait::in_doubt(const std::string& why) const {
  return {ErrorCode::unknown_outcome, "Redis at " + redis_.server() + " has done it, but " + why};
}

void ReplicaWait::confirm(Done done) {
  waiting_.push_back({std::move(done), redis_.connections()});
  if (!asked_) ask();
}

void ReplicaWait::ask() {
  asked_ = true;
  auto asked = std::make_shared<std::vector<Waiting>>(std::exchange(waiting_, {}));
  net::RedisCommand wait("WAIT");
  wait.add(std::int64_t{wish_.replicas}).add(wish_.timeout_ms);
  redis_.send(std::move(wait), [this, asked](const net::RedisAnswer& answer) {
    const Result<void> said = read(answer);
    const std::uint64_t now = redis_.connections();
    for (Waiting& one : *asked) {
      // Another connection wrote nothing, and has nothing to wait for.
      if (said && one.connection != now) {
        one.done(in_doubt("the connection was lost before the replicas were asked"));
      } else {
        one.done(said);
      }
    }
    asked_ = false;
    if (!waiting_.empty()) ask();
  });
}

Result<void> ReplicaWait::read(const net::RedisAnswer& answer) const {
  if (const auto* failure = std::get_if<net::RedisFailure>(&answer)) {
    return in_doubt("the replicas could not be asked: " + failure->error.message);
  }
  const net::RedisView view = std::get<net::RedisReply>(answer).view();
  if (view.kind() != net::RedisView::Kind::integer) {
    return in_doubt("the replicas could not be asked: " + std::string(view.text()));
  }
  if (view.integer() >= std::int64_t{wish_.replicas}) return {};
  return in_doubt("only " + std::to_string(view.integer()) + " of " +
                  std::to_string(wish_.replicas) + " replicas had it within " +
                  std::to_string(wish_.timeout_ms) + " ms");
}

}  // namespace tarry::redis
