// A list, stream or channel of a Redis server as a kind of sink.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "net/redis/redis_client.h"
#include "relay/sinks/kind.h"

namespace tarry::relay {

/// Reads the server that a URL names, from the scheme and the part after its colon. The URL's
/// options may only be those that describe the server.
using RedisServerOf =
    std::function<Result<net::RedisOptions>(std::string_view scheme, std::string_view rest)>;

/// `schemes`: those that `server_of` reads. The kind's `make` also has the errors of `server_of`.
[[nodiscard]] SinkKind redis_kind(std::vector<std::string_view> schemes, RedisServerOf server_of);

}  // namespace tarry::relay
