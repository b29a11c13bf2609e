#include "open/redis/redis_server.h"

#include <utility>

#include "base/secrets/secret_file.h"
#include "open/urls/tls_of.h"

namespace tarry::detail {
namespace {

// Without a file, the password is not changed.
Result<void> read_password(const char* option, const std::string& file, std::string& into) {
  if (file.empty()) return {};
  auto password = base::read_secret(option, file);
  if (!password) return std::move(password).error();
  into = *std::move(password);
  return {};
}

Result<net::RedisSentinelOptions> sentinels_of(const RedisUrl& url) {
  net::RedisSentinelOptions sentinels;
  for (const base::HostAndPort& each : url.hosts) {
    sentinels.addresses.push_back({each.host, each.port});
  }
  sentinels.master = url.master;
  sentinels.user = url.sentinel_user;
  const auto read =
      read_password("sentinel_password_file", url.sentinel_password_file, sentinels.password);
  if (!read) return read.error();
  return sentinels;
}

}  // namespace

Result<net::RedisOptions> redis_server_of(const RedisUrl& url) {
  net::RedisOptions server;
  if (url.topology == RedisUrl::Topology::sentinel) {
    auto sentinels = sentinels_of(url);
    if (!sentinels) return std::move(sentinels).error();
    server.sentinels = *std::move(sentinels);
  } else if (url.topology == RedisUrl::Topology::single && !url.hosts.empty()) {
    server.host = url.hosts[0].host;
    server.port = url.hosts[0].port;
  }
  server.unix_path = url.unix_path;
  server.user = url.user;
  server.password = url.password;
  server.database = url.database;
  const auto read = read_password("password_file", url.password_file, server.password);
  if (!read) return read.error();
  if (url.tls) {
    server.tls = tls_of(url);
  }
  return server;
}

}  // namespace tarry::detail
