// The connection options of the Redis server that a URL names, for stores and for sinks.
#pragma once

#include <tarry/result.h>

#include "net/redis/redis_client.h"
#include "open/urls/redis_url.h"

namespace tarry::detail {

/// Reads the password files. For a cluster, the result has only the options that all nodes share.
/// Errors: `invalid_argument` for a file that cannot be read or is empty.
[[nodiscard]] Result<net::RedisOptions> redis_server_of(const RedisUrl& url);

}  // namespace tarry::detail
