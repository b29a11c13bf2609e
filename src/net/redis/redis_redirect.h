// Reads what a cluster's servers report about slots: the slot map, and redirections.
//
// Pure functions; bytes from servers are not trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "net/redis/protocol/redis_reply.h"
#include "net/redis/redis_client.h"

namespace tarry::net {

/// "-MOVED 3999 127.0.0.1:6381" holds for all later commands too. "-ASK ..." holds for this command
/// alone, while the slot moves.
struct RedisRedirect {
  bool ask = false;
  std::uint16_t slot = 0;
  RedisAddress to;
};

/// The redirection in an error; nothing if the error is not one, or cannot be read. If it names no
/// host, the host is that of `from`.
[[nodiscard]] std::optional<RedisRedirect> redis_redirect(std::string_view error,
                                                          const RedisAddress& from);

struct RedisSlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;  // inclusive
  RedisAddress master;
};

/// Reads the reply of CLUSTER SLOTS. `unavailable` if it cannot be read.
[[nodiscard]] Result<std::vector<RedisSlotRange>> redis_slot_ranges(RedisView reply,
                                                                    const RedisAddress& from);

}  // namespace tarry::net
