// What is looked at before a store in Redis is used: the server's version and settings, the store's
// record.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/redis/server.h"

namespace tarry::redis {

struct ServerFacts {
  std::string warning;  // empty: none
  net::RedisChannels channels = net::RedisChannels::plain;
};
struct ServerWish {
  bool cluster = false;
  bool allow_eviction = false;
};
/// From what INFO says.
[[nodiscard]] Result<ServerFacts> check_server(std::string_view info, const std::string& name,
                                               ServerWish wish);

struct StoreFacts {
  std::uint32_t partitions = 0;
  std::uint64_t secret = 0;
};
/// Makes the store's record where there is none, else holds it against what is wanted.
void open_store(Server& server, std::optional<std::uint32_t> partitions,
                base::UniqueFunction<void(Result<StoreFacts>)> done);

}  // namespace tarry::redis
