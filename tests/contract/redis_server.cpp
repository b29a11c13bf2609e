#include "redis_server.h"

#include <stdexcept>

#include "support/redis_cluster_servers.h"
#include "support/redis_server.h"

namespace tarry::contract {
namespace {

tarry::testing::RedisServer& one_server() {
  static tarry::testing::RedisServer started;
  return started;
}

tarry::testing::RedisClusterServers& cluster_servers() {
  static tarry::testing::RedisClusterServers started;
  return started;
}

}  // namespace

std::string redis_url(RedisServers servers) {
  if (servers == RedisServers::cluster) return "redis+cluster://" + cluster_servers().hosts();
  return "redis+unix://" + one_server().socket_path();
}

void clear_redis(RedisServers servers) {
  if (servers == RedisServers::cluster) {
    cluster_servers().clear();
  } else if (one_server().ask({"FLUSHALL"}) != "+OK\r\n") {
    throw std::runtime_error("redis-server does not answer");
  }
}

}  // namespace tarry::contract
