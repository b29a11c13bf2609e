#include "engines/redis/node/brief_wait.h"

#include <memory>
#include <utility>

#include "engines/redis/node/node_replicas.h"

namespace tarry::redis {
namespace {

// No WAIT is sent for this long after one that failed.
constexpr std::chrono::seconds kPause(10);

}  // namespace

void BriefWait::confirm(const net::RedisOrigin& wrote, Done done) {
  if (std::chrono::steady_clock::now() < again_) return done();
  waiting_.push_back({wrote, std::move(done)});
  if (!asked_) ask();
}

void BriefWait::ask() {
  asked_ = true;
  auto asked = std::make_shared<std::vector<Waiting>>(std::exchange(waiting_, {}));
  const net::RedisOrigin wrote = asked->back().wrote;
  // Nodes may gain or lose replicas, so each time the nodes are asked anew.
  const auto replicas = std::make_shared<NodeReplicas>(server_.replicas_of_nodes());
  replicas->confirm(wrote, [this, replicas, asked](const Result<void>& confirmed) {
    asked_ = false;
    if (!confirmed) {
      again_ = std::chrono::steady_clock::now() + kPause;
      for (Waiting& late : std::exchange(waiting_, {})) asked->push_back(std::move(late));
    }
    for (Waiting& one : *asked) one.done();
    if (!asked_ && !waiting_.empty()) ask();
  });
}

}  // namespace tarry::redis
