// tarry::open with every engine: the composition root of tarry::tarry.
#include <fstream>
#include <utility>

#include <tarry/store.h>

#include "base/text.h"
#include "engines/redis/layouts/layout_engine.h"
#include "engines/redis/redis_engine.h"
#include "engines/remote/remote_engine.h"
#include "open/open_with.h"

namespace tarry {
namespace {

Result<std::string> read_password(std::string_view option, const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    return Unexpected(ErrorCode::invalid_argument, std::string(option) + " " + base::quoted(path) +
                                                       " cannot be read, or is empty");
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

detail::EngineResult open_remote(const detail::RemoteUrl& url) {
  remote::RemoteOptions wanted;
  wanted.host = url.host;
  wanted.port = url.port;
  return remote::open_remote(std::move(wanted));
}

Result<net::RedisSentinelOptions> sentinels_of(const detail::RedisUrl& url) {
  net::RedisSentinelOptions sentinels;
  for (const detail::HostAndPort& each : url.hosts) {
    sentinels.addresses.push_back({each.host, each.port});
  }
  sentinels.master = url.master;
  sentinels.user = url.sentinel_user;
  if (!url.sentinel_password_file.empty()) {
    auto password = read_password("sentinel_password_file", url.sentinel_password_file);
    if (!password) return std::move(password).error();
    sentinels.password = *std::move(password);
  }
  return sentinels;
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
    for (const detail::HostAndPort& node : url.hosts) {
      wanted.cluster.push_back({node.host, node.port});
    }
  } else if (url.topology == detail::RedisUrl::Topology::sentinel) {
    auto sentinels = sentinels_of(url);
    if (!sentinels) return std::move(sentinels).error();
    wanted.server.sentinels = *std::move(sentinels);
  } else if (!url.hosts.empty()) {
    wanted.server.host = url.hosts[0].host;
    wanted.server.port = url.hosts[0].port;
  }
  wanted.server.unix_path = url.unix_path;
  wanted.server.user = url.user;
  wanted.server.password = url.password;
  wanted.server.database = url.database;
  if (!url.password_file.empty()) {
    auto password = read_password("password_file", url.password_file);
    if (!password) return std::move(password).error();
    wanted.server.password = *std::move(password);
  }
  if (url.tls) {
    wanted.server.tls =
        net::RedisTls{url.ca_file, url.certificate_file, url.key_file, url.server_name};
  }
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
  static constexpr detail::Openers kOpeners = {open_remote, open_redis};
  return detail::open_with(url, std::move(options), &kOpeners);
}

}  // namespace tarry
