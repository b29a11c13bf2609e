#include "redis_server.h"

#include <stdexcept>

#include "support/redis_cluster_servers.h"
#include "support/redis_family.h"
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

tarry::testing::RedisFamily& family() {
  static tarry::testing::RedisFamily started;
  return started;
}

void clear(const tarry::testing::RedisServer& server) {
  if (server.ask({"FLUSHALL"}) != "+OK\r\n") {
    throw std::runtime_error("redis-server does not answer");
  }
}

}  // namespace

std::string redis_url(RedisServers servers, std::uint32_t shards) {
  const std::string option = "shards=" + std::to_string(shards);
  switch (servers) {
    case RedisServers::cluster:
      return "redis+cluster://" + cluster_servers().hosts() + "?" + option;
    case RedisServers::sentinel:
      return "redis+sentinel://127.0.0.1:" + std::to_string(family().sentinel().port()) +
             "?master=" + tarry::testing::RedisFamily::kName + "&" + option;
    case RedisServers::one: break;
  }
  return "redis+unix://" + one_server().socket_path() + "?" + option;
}

void clear_redis(RedisServers servers) {
  switch (servers) {
    case RedisServers::one: return clear(one_server());
    case RedisServers::cluster: return cluster_servers().clear();
    case RedisServers::sentinel: return clear(family().master());
  }
}

}  // namespace tarry::contract
