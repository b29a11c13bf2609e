// URLs of stores in Redis or Valkey:
//
//   redis://[USER:PASSWORD@]HOST[:PORT][/DB][?options]      rediss:// the same over TLS
//   redis+unix:///PATH[?db=N&options]
//   redis+cluster://[USER:PASSWORD@]HOST[:PORT][,HOST...][?options]     some of the nodes
//   redis+sentinel://[USER:PASSWORD@]HOST[:PORT][,HOST...][/DB]?master=NAME[&options]
//   rediss+cluster://, rediss+sentinel://       the same over TLS
//
// Options: partitions=N (only for a new store), shards=N (for queues that this store makes),
// layout=native|plain|hash|redisson, max_payload=SIZE, allow_eviction=yes, wait=N[,TIMEOUT],
// user=NAME, password_file=PATH; for rediss: ca=PATH, cert=PATH, key=PATH, name=HOST (the server's
// name in its certificate); for sentinels: master=NAME, sentinel_user=NAME,
// sentinel_password_file=PATH (the sentinels' login; USER:PASSWORD@ is the master's). For the other
// layouts (docs/formats/redis-layouts.md), instead of partitions and shards: zset=NAME and
// unit=ms|s (plain, hash), hash=NAME (hash), list=NAME, decode=raw|string|json and
// claim=direct|list (redisson), queue=NAME.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "base/text/url_parts.h"
#include "engines/redis/records/layout_spec.h"

namespace tarry::detail {

struct RedisUrl {
  enum class Topology : std::uint8_t { single, cluster, sentinel };

  Topology topology = Topology::single;
  // One host for a single server, several otherwise; none if unix_path is set.
  std::vector<base::HostAndPort> hosts;
  std::string unix_path;
  std::string master;  // the name by which the sentinels know it
  std::string sentinel_user;
  std::string sentinel_password_file;
  bool tls = false;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string server_name;
  std::string user;
  std::string password;
  std::string password_file;  // if not empty, its first line is the password
  std::uint32_t database = 0;
  std::optional<std::uint32_t> partitions;
  std::optional<std::uint32_t> shards;
  std::optional<std::uint64_t> max_payload;
  bool allow_eviction = false;
  bool native = true;               // false: see `layout`
  redis::LayoutSpec layout;         // this parser does not check its key names
  std::uint32_t wait_replicas = 0;  // replicas that must have a change before it is answered
  std::int64_t wait_timeout_ms = 1'000;
};

/// Whether `scheme` is one of the schemes above.
[[nodiscard]] bool is_redis_scheme(std::string_view scheme) noexcept;

/// All of the schemes above.
[[nodiscard]] std::vector<std::string_view> redis_schemes();

/// `scheme` is one of these schemes; `rest` is the text after its colon.
[[nodiscard]] Result<RedisUrl> parse_redis_url(std::string_view scheme, std::string_view rest);

}  // namespace tarry::detail
