// The RedisStream in TLS (OpenSSL): 1.2 at least, the server's certificate and name checked.
//
// Certificate files are read anew for every connection, so that they may be replaced.
#pragma once

#include <memory>

#include "net/redis_stream.h"

namespace tarry::net {

/// `options.tls` is there.
[[nodiscard]] std::unique_ptr<RedisStream> make_redis_tls_stream(boost::asio::io_context& io,
                                                                 const RedisOptions& options);

}  // namespace tarry::net
