// What scripts/describe.lua tells of a message, read.
#pragma once

#include <optional>

#include <tarry/message.h>

#include "engines/redis/place.h"
#include "net/redis_reply.h"

namespace tarry::redis {

/// Nothing for what cannot be read. `now_ms` is the script's.
[[nodiscard]] std::optional<MessageInfo> read_message(net::RedisView told, const Place& place,
                                                      std::uint64_t secret, std::int64_t now_ms,
                                                      bool with_payload);
/// Bytes that count for an answer's limit.
[[nodiscard]] std::uint64_t bytes_of(const MessageInfo& info) noexcept;

}  // namespace tarry::redis
