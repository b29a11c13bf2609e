// tarry::open with every engine: the composition root of tarry::tarry.
#include <utility>

#include <tarry/store.h>

#include "engines/redis/layouts/layout_engine.h"
#include "engines/redis/redis_engine.h"
#include "engines/remote/remote_engine.h"
#include "open/open_with.h"
#include "open/rabbit_url.h"
#include "open/redis/redis_server.h"
#include "open/urls/server_token.h"
#include "open/urls/tls_of.h"

namespace tarry {
namespace {

detail::EngineResult open_remote(const detail::RemoteUrl& url) {
  remote::RemoteOptions wanted;
  wanted.host = url.host;
  wanted.port = url.port;
  wanted.unix_path = url.unix_path;
  if (url.tls) wanted.tls = detail::tls_of(url);
  auto token = detail::token_for(url);
  if (!token) return std::move(token).error();
  wanted.token = *std::move(token);
  wanted.renew_token = detail::token_renewal(url);
  return remote::open_remote(std::move(wanted));
}

detail::EngineResult open_layout(const detail::RedisUrl& url, redis::RedisEngineOptions common) {
  redis::LayoutEngineOptions wanted;
  wanted.server = std::move(common.server);
  wanted.layout = url.layout;
  wanted.allow_eviction = common.allow_eviction;
  wanted.limits = common.limits;
  wanted.clock = std::move(common.clock);
  wanted.log = std::move(common.log);
  return redis::open_layout(std::move(wanted));
}

detail::EngineResult open_redis(const detail::RedisUrl& url, const OpenOptions& options) {
  redis::RedisEngineOptions wanted;
  if (url.topology == detail::RedisUrl::Topology::cluster) {
    for (const base::HostAndPort& node : url.hosts) {
      wanted.cluster.push_back({node.host, node.port});
    }
  }
  auto server = detail::redis_server_of(url);
  if (!server) return std::move(server).error();
  wanted.server = *std::move(server);
  wanted.partitions = url.partitions;
  wanted.shards = url.shards.value_or(wanted.shards);
  wanted.allow_eviction = url.allow_eviction;
  wanted.wait = {url.wait_replicas, url.wait_timeout_ms};
  wanted.limits.max_payload = url.max_payload.value_or(wanted.limits.max_payload);
  if (options.clock) wanted.clock = options.clock->implementation();
  wanted.log = options.log;
  if (!url.native) return open_layout(url, std::move(wanted));
  return redis::open_redis(std::move(wanted));
}

}  // namespace

Result<Store> open(std::string_view url, OpenOptions options) {
  static constexpr detail::Openers kOpeners = {open_remote, open_redis, detail::open_rabbitmq};
  return detail::open_with(url, std::move(options), &kOpeners);
}

}  // namespace tarry
