// The RedisStream over TLS (net/tls).
//
// Certificate files are read again for every connection, so they may be replaced at any time.
#pragma once

#include <memory>

#include "net/redis/redis_stream.h"

namespace tarry::net {

/// `options.tls` must be set.
[[nodiscard]] std::unique_ptr<RedisStream> make_redis_tls_stream(boost::asio::io_context& io,
                                                                 const RedisOptions& options);

}  // namespace tarry::net
