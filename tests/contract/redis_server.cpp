#include "redis_server.h"

#include <stdexcept>

#include "support/redis_server.h"

namespace tarry::contract {
namespace {

tarry::testing::RedisServer& server() {
  static tarry::testing::RedisServer started;
  return started;
}

}  // namespace

std::string redis_url() { return "redis+unix://" + server().socket_path(); }

void clear_redis() {
  if (server().ask({"FLUSHALL"}) != "+OK\r\n") {
    throw std::runtime_error("redis-server does not answer");
  }
}

}  // namespace tarry::contract
