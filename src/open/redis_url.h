// URLs of stores in Redis or Valkey:
//
//   redis://[USER:PASSWORD@]HOST[:PORT][/DB][?options]      rediss:// the same over TLS
//   redis+unix:///PATH[?db=N&options]
//
// Options: partitions=N (when the store is made), shards=N (of queues that are made through it),
// layout=native, max_payload=SIZE, allow_eviction=yes, user=NAME, password_file=PATH; for rediss:
// ca=PATH, cert=PATH, key=PATH, name=HOST (the server's name in its certificate).
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::detail {

struct RedisUrl {
  std::string host;
  std::uint16_t port = 6379;
  std::string unix_path;  // not empty: instead of host and port
  bool tls = false;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string server_name;
  std::string user;
  std::string password;
  std::string password_file;  // not empty: its first line is the password
  std::uint32_t database = 0;
  std::optional<std::uint32_t> partitions;
  std::optional<std::uint32_t> shards;
  std::optional<std::uint64_t> max_payload;
  bool allow_eviction = false;
};

/// `scheme` is redis, rediss or redis+unix; `rest` is what stands behind its colon.
[[nodiscard]] Result<RedisUrl> parse_redis_url(std::string_view scheme, std::string_view rest);

}  // namespace tarry::detail
