// tarry::open with every engine: the composition root of tarry::tarry.
#include <fstream>
#include <utility>

#include <tarry/store.h>

#include "base/text.h"
#include "engines/redis/redis_engine.h"
#include "engines/remote/remote_engine.h"
#include "open/open_with.h"

namespace tarry {
namespace {

Result<std::string> read_password(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    return Unexpected(ErrorCode::invalid_argument,
                      "password_file " + base::quoted(path) + " cannot be read, or is empty");
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

detail::EngineResult open_redis(const detail::RedisUrl& url, const OpenOptions& options) {
  redis::RedisEngineOptions wanted;
  if (url.topology == detail::RedisUrl::Topology::cluster) {
    for (const detail::HostAndPort& node : url.hosts) {
      wanted.cluster.push_back({node.host, node.port});
    }
  } else if (url.topology == detail::RedisUrl::Topology::sentinel) {
    return Unexpected(ErrorCode::unsupported, "redis+sentinel: is not built in yet");
  } else if (!url.hosts.empty()) {
    wanted.server.host = url.hosts[0].host;
    wanted.server.port = url.hosts[0].port;
  }
  wanted.server.unix_path = url.unix_path;
  wanted.server.user = url.user;
  wanted.server.password = url.password;
  wanted.server.database = url.database;
  if (!url.password_file.empty()) {
    auto password = read_password(url.password_file);
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
  wanted.limits.max_payload = url.max_payload.value_or(wanted.limits.max_payload);
  if (options.clock) wanted.clock = options.clock->implementation();
  wanted.log = options.log;
  return redis::open_redis(std::move(wanted));
}

}  // namespace

Result<Store> open(std::string_view url, OpenOptions options) {
  static constexpr detail::Openers kOpeners = {open_remote, open_redis};
  return detail::open_with(url, std::move(options), &kOpeners);
}

}  // namespace tarry
