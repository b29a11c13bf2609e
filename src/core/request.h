// Request: a batch of one kind, for an engine. The strings of the items (keys, payloads, headers,
// receipts, reasons) are together in `bytes`, and an item refers to them by Slice; so a batch of
// any length costs two allocations.
//
// Plain values, moved into `Engine::submit`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tarry/message.h>
#include <tarry/settings.h>
#include <tarry/time.h>

#include "base/assert.h"
#include "core/limits.h"

namespace tarry::core {

/// A piece of a request's or reply's `bytes`.
struct Slice {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

[[nodiscard]] inline std::string_view view(const std::string& bytes, Slice slice) noexcept {
  return std::string_view(bytes).substr(slice.offset, slice.size);
}

/// Appends `piece` to `bytes` and returns its place. The limits keep `bytes` below 4 GiB. It aborts
/// if `bytes` becomes larger, because the Slice would then refer to the wrong bytes.
[[nodiscard]] inline Slice append(std::string& bytes, std::string_view piece) {
  constexpr std::size_t kReach = std::numeric_limits<std::uint32_t>::max();
  TARRY_ASSERT(bytes.size() <= kReach && piece.size() <= kReach - bytes.size());
  const Slice slice{static_cast<std::uint32_t>(bytes.size()),
                    static_cast<std::uint32_t>(piece.size())};
  bytes.append(piece);
  return slice;
}

struct PushItem {
  Slice key;  // empty: the store makes one
  Slice payload;
  Slice headers;  // encoded: core/rules/headers.h
  Due due;
  std::uint32_t priority = kDefaultPriority;
  std::uint32_t max_attempts = 0;     // 0: the queue's
  std::optional<IfExists> if_exists;  // empty: the queue's
  // core/rules/expiry.h. A push may name one of the two; a move both, or neither for none.
  std::optional<Millis> expire = {};  // empty: the queue's
  std::optional<Time> expire_at = {};
  // Pushes only: the due time may be later by up to this. core/engine_parts/spread.h chooses it.
  Millis spread{0};
};
struct PushRequest {
  std::string queue;
  std::vector<PushItem> items;
  std::string bytes;
};

/// The state of a message when it was read.
struct Seen {
  std::uint64_t id = 0;
  std::int64_t due_ms = 0;
  std::uint32_t priority = kDefaultPriority;
  std::uint32_t claims = 0;  // of its tallies
  bool dead = false;
  // The message's content, in the request's bytes, for a store that gives messages no ids. Not sent
  // to servers.
  std::optional<Slice> payload = {};
};

struct CancelRequest {
  std::string queue;
  std::vector<Slice> keys;
  std::string bytes;
  // For migration: one per key, if not empty. It says that the message now lives in another store.
  // If the message has not changed since it was seen, it is deleted and counts as moved away; the
  // outcome is `done`. Otherwise nothing changes. The outcome is then `kept` if the message has
  // changed, `in_flight` if it is leased, or that of a cancel if it does not exist.
  std::vector<Seen> seen = {};
};

struct RescheduleItem {
  Slice key;
  Due due;
  std::optional<std::uint32_t> priority;
};
struct RescheduleRequest {
  std::string queue;
  std::vector<RescheduleItem> items;
  std::string bytes;
};

/// How the engine ends a claim. It has one way more than the public Action.
enum class SettleAction : std::uint8_t {
  ack,
  retry,
  release,
  bury,
  move_away,  // the message now lives in another store (migration)
};
[[nodiscard]] constexpr std::string_view to_string(SettleAction action) noexcept {
  switch (action) {
    case SettleAction::ack: return "ack";
    case SettleAction::retry: return "retry";
    case SettleAction::release: return "release";
    case SettleAction::bury: return "bury";
    case SettleAction::move_away: return "move_away";
  }
  return "unknown";
}

/// The patterns of the queues (queue_pattern.h) whose claims a request by receipts may touch: any
/// other receipt is `stale`, as if it named no claim. Null: every queue.
using OnlyQueues = std::shared_ptr<const std::vector<std::string>>;

struct SettleItem {
  Slice receipt;
  SettleAction action = SettleAction::ack;
  std::optional<Millis> delay;            // retry
  std::optional<std::uint32_t> priority;  // retry, release, bury
  Slice reason;                           // bury; retry: kept if this was the last attempt
};
struct SettleRequest {
  std::vector<SettleItem> items;
  std::string bytes;
  OnlyQueues only_queues = {};
};

struct ClaimRequest {
  std::vector<std::string> queues;  // at least one; served fairly, in turn
  std::vector<std::string> keys;    // not empty: only these messages, and `queues` names one queue
  bool any_state = false;           // with keys: scheduled and dead ones too
  std::uint32_t max = 1;
  // Payload bytes, up to kMaxClaimBytes; at least one message is always returned.
  std::uint64_t max_bytes = kDefaultClaimBytes;
  std::optional<Millis> lease;  // empty: the queue's
  Millis wait{0};
  // If not empty, one list per queue: the shards (QueueStats::shards) to claim from; an empty list
  // means all shards. Engines that do not claim by shard ignore it.
  std::vector<std::vector<std::uint32_t>> shards = {};
  // Carried out before the claim, so that the claim may get a message that they release. They do
  // not wait with the claim, and a withdrawn claim does not undo them.
  SettleRequest settle = {};
  // The claimer, for the histories of the messages. Servers and relays fill it in; it is not sent
  // to servers.
  std::string by = {};
};

struct ExtendItem {
  Slice receipt;
  std::optional<Millis> lease;  // empty: the queue's
};
struct ExtendRequest {
  std::vector<ExtendItem> items;
  std::string bytes;
  OnlyQueues only_queues = {};
};

struct GetRequest {
  std::string queue;
  std::vector<Slice> keys;
  std::string bytes;
  bool with_payload = true;
  bool with_history = false;
};

struct ListRequest {
  std::string queue;
  std::optional<State> state;
  std::string after;  // the reply's `next`; empty: from the start
  std::string prefix;
  std::uint32_t limit = 100;
  /// See ListOptions.
  bool whole = false;
};

struct StatsRequest {
  std::string queue;  // empty: all
  /// True: the caller needs only the queues' names and shards. Figures that are expensive to
  /// compute may be left at 0.
  bool names_only = false;
};

/// Asks how many messages fall due in each of `buckets` spans of `width`, from now on.
struct ForecastRequest {
  std::string queue;
  Millis width{0};
  std::uint32_t buckets = 0;
  std::optional<Time> from = {};  // when the first bucket begins; unless set, now
};

struct ConfigureRequest {
  std::string queue;
  SettingsPatch patch;
};
struct PauseRequest {
  std::string queue;
  std::optional<Time> until;
};
struct ResumeRequest {
  std::string queue;
};
struct PurgeRequest {
  std::string queue;
};
/// Removes the queue with everything in it. Errors: `conflict` while messages are leased, unless
/// `force` is true; `not_found` if there is no such queue.
struct RemoveRequest {
  std::string queue;
  bool force = false;
};
struct ReviveRequest {
  std::string queue;
  bool all = false;
  std::vector<Slice> keys;
  std::string bytes;
};

/// A push that keeps the message's history: import and migration. It never overwrites: `if_exists`
/// is `reject` (the default, whatever the queue's rule) or `keep`.
struct MoveItem {
  PushItem push;
  std::uint32_t attempt = 0;
  Tallies tallies;
  bool dead = false;
  Slice reason;                           // dead only
  std::optional<std::int64_t> pushed_ms;  // empty: not known
};
struct MoveRequest {
  std::string queue;
  std::vector<MoveItem> items;
  std::string bytes;
};

/// One step of resharding a queue: begins a reshard, or continues it.
struct ReshardRequest {
  std::string queue;
  std::uint32_t shards = 0;
  std::uint64_t turn = 0;  // from the last step's reply; 0: begin, or take over a reshard in
                           // progress
};

using Request =
    std::variant<PushRequest, CancelRequest, RescheduleRequest, ClaimRequest, SettleRequest,
                 ExtendRequest, GetRequest, ListRequest, StatsRequest, ForecastRequest,
                 ConfigureRequest, PauseRequest, ResumeRequest, PurgeRequest, ReviveRequest,
                 MoveRequest, ReshardRequest, RemoveRequest>;

}  // namespace tarry::core
