// Reads what scripts/describe.lua returns for a message.
#pragma once

#include <optional>

#include <tarry/message.h>

#include "engines/redis/records/place.h"
#include "net/redis/protocol/redis_reply.h"

namespace tarry::redis {

struct ToldMessage {
  MessageInfo info;
  /// The body has a wrong checksum or cannot be read. `info` has the other known facts, and tells
  /// that in `reason`.
  bool is_damaged = false;
};
/// Nothing for values that no script returns. `now_ms` is the script's time. Payloads are checked
/// if they were requested.
[[nodiscard]] std::optional<ToldMessage> read_message(net::RedisView told, const Place& place,
                                                      std::uint64_t secret, std::int64_t now_ms,
                                                      bool with_payload);
/// How many bytes the message counts towards an answer's limit.
[[nodiscard]] std::uint64_t bytes_of(const MessageInfo& info) noexcept;

}  // namespace tarry::redis
