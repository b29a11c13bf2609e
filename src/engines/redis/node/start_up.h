// The checks before a store in Redis is used: the server's version and settings, and the store's
// record.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/redis/node/server.h"

namespace tarry::redis {

struct ServerFacts {
  std::string warning;  // empty: none
  net::RedisChannels channels = net::RedisChannels::plain;
};
struct ServerWish {
  bool cluster = false;
  bool allow_eviction = false;
};
/// Reads the answer to INFO.
[[nodiscard]] Result<ServerFacts> check_server(std::string_view info, const std::string& name,
                                               ServerWish wish);

/// The same for each master. Combines the facts into those that are true for all masters.
[[nodiscard]] Result<ServerFacts> check_masters(const std::vector<Server::FromMaster>& infos,
                                                ServerWish wish);

/// The schema of new stores. Stores since kOldestSchema are used unchanged (docs/formats/redis.md,
/// Changing it).
inline constexpr std::int64_t kSchema = 4;
inline constexpr std::int64_t kOldestSchema = 1;
inline constexpr std::int64_t kBulkSchema = 2;  // programs without bulk claims refuse it
/// Programs that know no push times in bodies refuse this schema and later ones.
inline constexpr std::int64_t kPushTimeSchema = 3;
/// The same for programs that would deliver messages after their expiry.
inline constexpr std::int64_t kExpirySchema = 4;
/// The same for programs that would pass the limits of queues. No version was released between the
/// two, so they share a schema.
inline constexpr std::int64_t kLimitsSchema = 4;

inline constexpr std::uint32_t kDefaultPartitions = 16;
inline constexpr std::uint32_t kMaxPartitions = 1024;

struct StoreFacts {
  std::int64_t schema = 0;
  std::uint32_t partitions = 0;
  std::uint64_t secret = 0;
};
/// Makes the store's record if there is none. Otherwise compares it with the wanted number of
/// partitions.
void open_store(Server& server, std::optional<std::uint32_t> partitions,
                base::UniqueFunction<void(Result<StoreFacts>)> done);

}  // namespace tarry::redis
