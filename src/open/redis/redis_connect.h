// A connection to the Redis that a URL names, for coordination.
#pragma once

#include <functional>
#include <memory>

#include <tarry/result.h>
#include <tarry/time.h>

#include "net/redis/redis.h"
#include "open/urls/redis_url.h"

namespace boost::asio {
class io_context;
}

namespace tarry::detail {

/// Makes a connection, to the server or to the cluster, on an io_context.
using RedisConnect = std::function<std::unique_ptr<net::Redis>(boost::asio::io_context&)>;

/// A server that is silent for `patience` counts as dead. Errors as redis_server_of's.
[[nodiscard]] Result<RedisConnect> redis_connect_of(const RedisUrl& url, Millis patience);

}  // namespace tarry::detail
