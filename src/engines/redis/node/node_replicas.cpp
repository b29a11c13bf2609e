#include "engines/redis/node/node_replicas.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tarry::redis {
namespace {

ReplicaWish at_least_one(ReplicaWish wish) {
  wish.replicas = std::max(wish.replicas, 1u);
  return wish;
}

}  // namespace

NodeReplicas::NodeReplicas(net::Redis& redis, ReplicaWish wish)
    : wait_(redis, at_least_one(wish)), always_(wish.replicas > 0) {}

void NodeReplicas::confirm(const net::RedisOrigin& wrote, Done done) {
  if (!wrote.is_node) return done({});
  const std::shared_ptr<net::Redis> node = wrote.node.lock();
  if (always_ || node == nullptr) return wait_.confirm(wrote, std::move(done));
  if (const auto known = has_.find(node); known != has_.end()) {
    if (!known->second) return done({});
    return wait_.confirm(wrote, std::move(done));
  }
  node->send(std::move(net::RedisCommand("INFO").add("replication")),
             [this, node, wrote, done = std::move(done)](const net::RedisAnswer& answer) mutable {
               // If the node does not say whether it has replicas, wait for one.
               const auto* told = std::get_if<net::RedisReply>(&answer);
               has_[node] = told == nullptr || told->view().is_error() ||
                            told->view().text().find("state=online") != std::string_view::npos;
               confirm(wrote, std::move(done));
             });
}

}  // namespace tarry::redis
