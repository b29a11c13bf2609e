#include "open/redis/redis_connect.h"

#include <utility>
#include <vector>

#include "net/redis/redis_client.h"
#include "net/redis/redis_cluster.h"
#include "open/redis/redis_server.h"

namespace tarry::detail {

Result<RedisConnect> redis_connect_of(const RedisUrl& url, Millis patience) {
  auto server = redis_server_of(url);
  if (!server) return std::move(server).error();
  server->command_timeout_ms = patience.count();
  std::vector<net::RedisAddress> nodes;
  if (url.topology == RedisUrl::Topology::cluster) {
    for (const base::HostAndPort& each : url.hosts) nodes.push_back({each.host, each.port});
  }
  return RedisConnect([server = *std::move(server),
                       nodes](boost::asio::io_context& io) -> std::unique_ptr<net::Redis> {
    if (nodes.empty()) return std::make_unique<net::RedisClient>(io, server);
    return std::make_unique<net::RedisCluster>(io, nodes, server);
  });
}

}  // namespace tarry::detail
