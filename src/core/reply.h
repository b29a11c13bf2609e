// Reply: an engine's answer to a Request, item by item and in the request's order. The strings of a
// reply share one buffer that it owns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/settings.h>

#include "base/threads/boot_clock.h"
#include "core/request.h"

namespace tarry::core {

struct PushResult {
  std::optional<Error> error;  // set: this item failed and changed nothing
  Outcome outcome = Outcome::pushed;
  std::uint64_t id = 0;  // of the message that is there now; 0: none
  std::int64_t due_ms = 0;
  Slice key;
};
/// Answers PushRequest and MoveRequest.
struct PushReply {
  std::vector<PushResult> items;
  std::string bytes;
};

struct ItemResult {
  std::optional<Error> error;
  Outcome outcome = Outcome::unknown;
  std::optional<std::int64_t> due_ms;    // reschedule, retry: the new time
  std::optional<Settlement> settlement;  // outcome settled
};
/// Answers Cancel, Reschedule, Settle and Extend.
struct ItemsReply {
  std::vector<ItemResult> items;
};

struct ClaimedItem {
  Slice queue;
  Slice key;
  Slice payload;
  Slice headers;
  Slice receipt;
  std::uint64_t id = 0;
  std::int64_t due_ms = 0;
  std::int64_t claimed_ms = 0;
  std::int64_t lease_ms = 0;
  std::uint32_t attempt = 0;
  std::uint32_t priority = 0;
  Tallies tallies;
};
struct ClaimReply {
  std::vector<ClaimedItem> items;  // in the order of guarantee 8, shard by shard
  std::string bytes;
  // By this machine's clock: no lease of these messages began earlier than this moment, so leases
  // are counted from it. Empty: they began when the reply came.
  std::optional<base::BootClock::time_point> begun_at = {};
  std::vector<ItemResult> settled = {};  // one for each item of the request's `settle`
  // Only if the request had settlements: they were carried out, and the claim failed after them. A
  // claim that fails without having settled anything answers the error itself.
  std::optional<Error> claim_error = {};

  /// If a reply combines several claims, the earliest beginning counts.
  void began(base::BootClock::time_point at) {
    if (!begun_at || at < *begun_at) begun_at = at;
  }
};

struct GetReply {
  // Errors: `not_found` if there is no such message; `too_large` if the answer was full: ask again
  std::vector<Result<MessageInfo>> items;
  std::uint64_t bytes = 0;  // of the items; counted by the engine while it fills them in
};

struct ListReply {
  std::vector<MessageInfo> messages;  // without payloads
  std::string next;                   // empty: no more
  std::uint64_t bytes = 0;            // as in GetReply
};

struct ForecastReply {
  std::uint64_t due_now = 0;
  std::vector<std::uint64_t> buckets;
  std::uint64_t later = 0;
};

struct ConfigureReply {
  QueueSettings settings;
};

/// Answers Purge, Revive and Remove: the number of messages. Pause: the number of shards, or 0 if
/// nothing is paused since `until` has passed. Resume: 0.
struct CountReply {
  std::uint64_t count = 0;
};

using Reply = std::variant<PushReply, ItemsReply, ClaimReply, GetReply, ListReply, StoreStats,
                           ForecastReply, ConfigureReply, CountReply, ReshardStep>;

}  // namespace tarry::core
