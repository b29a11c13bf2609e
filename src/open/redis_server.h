// The Redis server that a URL names, as the connection needs it: for stores and for sinks.
#pragma once

#include <functional>
#include <memory>

#include <tarry/result.h>
#include <tarry/time.h>

#include "net/redis_client.h"
#include "open/redis_url.h"

namespace tarry::detail {

/// Reads the password files. Of a cluster only what all its nodes have in common. Errors:
/// `invalid_argument` for a file that cannot be read or is empty.
[[nodiscard]] Result<net::RedisOptions> redis_server_of(const RedisUrl& url);

/// What makes a connection to it, or to the cluster that it names, on an io_context. A server that
/// is silent for `patience` is taken for dead. Errors as above.
using RedisConnect = std::function<std::unique_ptr<net::Redis>(boost::asio::io_context&)>;
[[nodiscard]] Result<RedisConnect> redis_connect_of(const RedisUrl& url, Millis patience);

}  // namespace tarry::detail
