// InboxEntry: an entry that a foreign producer wrote into an inbox, read and checked by the rules
// of the verb table. docs/formats/redis.md has the fields.
//
// Reading is a pure function of the entry, except for ids ahead of Redis's clock. So every process
// that drains an inbox reads the same.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/result.h>

#include "core/limits.h"
#include "net/redis/protocol/redis_reply.h"

namespace tarry::redis {

enum class InboxVerb : char { push = 'p', cancel = 'c', reschedule = 'r' };

/// An id of a stream: "1767225600000-0".
struct StreamId {
  std::uint64_t ms = 0;
  std::uint64_t number = 0;
};
/// Nothing for text that is no entry id.
[[nodiscard]] std::optional<StreamId> read_stream_id(std::string_view text) noexcept;
/// Spells both parts with 20 digits, so that the texts compare as the ids do.
[[nodiscard]] std::string spell_in_order(StreamId id);

/// Redis's time when the entry was read, in ms: rounded down, and rounded up.
struct InboxTime {
  std::int64_t now_ms = 0;
  std::int64_t later_ms = 0;
};

/// The views point into the reply from which the entry was read.
struct InboxEntry {
  InboxVerb verb = InboxVerb::push;
  std::string_view queue;
  std::string_view key;  // empty: the store makes one (push only)
  std::string_view payload;
  std::string headers;  // encoded: core/rules/headers.h
  std::int64_t due_ms = 0;
  std::int64_t sent_ms = 0;  // the entry's own time, but at most the time of reading
  std::optional<std::uint32_t> priority;
  std::uint32_t max_attempts = 0;     // 0: the queue's
  std::optional<IfExists> if_exists;  // empty: the queue's
};

/// `fields`: names and values in turn. Errors: `invalid_argument` and `too_large`, with a line that
/// names the field, the value and the limit.
[[nodiscard]] Result<InboxEntry> read_inbox_entry(StreamId id, net::RedisView fields,
                                                  InboxTime time, const core::Limits& limits);

/// A hash of the entry, in eight bytes. Equal entries have equal hashes.
[[nodiscard]] std::string mark_of(std::string_view id, net::RedisView fields);

}  // namespace tarry::redis
