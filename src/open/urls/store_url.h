// Store URLs: they name the engine, the place of the store, and options.
//
//   memory:[?clock=manual&shards=N&segment=SIZE&max_payload=SIZE&capacity=SIZE]
//   file:PATH[?sync=always|100ms|os&shards=N&segment=SIZE&max_payload=SIZE]
//   http://HOST[:PORT][?token_file=PATH]
//   https://HOST[:PORT][?token_file=PATH&ca=PATH&cert=PATH&key=PATH&name=HOST]
//   http+unix:///PATH
//   amqp://HOST[:PORT][/VHOST], amqps://: rabbit_url.h
//   redis://, rediss://, redis+unix://, redis+cluster://, redis+sentinel://: redis_url.h
//
// Parsing is strict: an option that is unknown, repeated or out of range is an error that names the
// option. A path may be relative (`file:data`), absolute (`file:/srv/tarry`) or have slashes for an
// empty host (`file:///srv/tarry`). `%XX` stands for a byte; `?`, `#` and `%` must be written that
// way.
//
// No message shows a possible secret: user and password are masked, and for an unknown option only
// the name is shown.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <tarry/result.h>

#include "engines/embedded/embedded_engine.h"
#include "open/urls/redis_url.h"

namespace tarry::detail {

/// memory: and file: URLs. If a member is empty, the URL does not have that option, and the
/// engine's default is used.
struct EmbeddedUrl {
  std::string path;  // empty: memory:
  std::optional<embedded::SyncPolicy> sync;
  std::optional<std::uint32_t> shards;
  std::optional<std::uint64_t> segment_bytes;
  std::optional<std::uint64_t> max_payload;
  std::optional<std::uint64_t> memory_bytes;
  bool manual_clock = false;
};

struct RemoteUrl {
  std::string host;  // an IPv6 address without its brackets
  std::uint16_t port = 7733;
  std::string token_file = {};  // empty: not given
  std::string unix_path = {};   // http+unix: instead of host and port
  bool tls = false;             // https:; the members below are its options
  std::string ca_file = {};
  std::string certificate_file = {};
  std::string key_file = {};
  std::string server_name = {};  // in the server's certificate; empty: the host
};

/// amqp: and amqps:, read by the composition root that has that engine.
struct RabbitUrl {
  std::string scheme;
  std::string rest;  // what follows the scheme and its colon
};

using StoreUrl = std::variant<EmbeddedUrl, RemoteUrl, RedisUrl, RabbitUrl>;

/// Error: `invalid_argument`.
[[nodiscard]] Result<StoreUrl> parse_store_url(std::string_view url);

/// The URL with `***` instead of user and password, for logs and messages.
[[nodiscard]] std::string masked_url(std::string_view url);

}  // namespace tarry::detail
