// QueueTable: the queues of a shard, by number and by name. A queue's number stands in its messages
// and records; when the queue is removed, the number is free for the next new queue.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. A queue that is there (QueueState::is_there) is found by its name; a free number has no name.
//  2. A place of the table never moves, so a reference to a queue stays valid until it is freed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tarry/settings.h>

#include "base/string_hash.h"
#include "engines/embedded/records/records.h"
#include "engines/embedded/state/lanes/gated_queues.h"
#include "engines/embedded/state/lanes/queue_lanes.h"
#include "engines/embedded/state/messages/event_lists.h"
#include "engines/embedded/state/messages/message_slab.h"

namespace tarry::embedded {

using QueueId = std::uint32_t;
inline constexpr QueueId kNoQueue = 0xFFFF'FFFF;

struct QueueState {
  QueueState(MessageSlab& slab, HandleBlocks& blocks) : lanes(slab, blocks) {}

  std::string name;
  QueueSettings settings;
  bool paused = false;
  bool removed = false;  // its removal is decided
  // No claims, because the queue may be about to be removed. Shard sets it; no record does.
  bool frozen = false;
  std::optional<std::int64_t> paused_until_ms;
  QueueCounters counters;
  std::array<std::uint64_t, 6> count{};  // by Stage
  QueueLanes lanes;
  AtGate at_gate;
  std::unique_ptr<EventLists> events;  // null unless it has the setting `history`
  // About how many messages at the lanes' front have been read ahead; others may have come before
  // them.
  std::size_t read_ahead = 0;
  std::size_t most_claimed = 0;  // by one claim, since the last request to read ahead

  /// False if its number is free for the next new queue.
  [[nodiscard]] bool is_there() const noexcept { return !name.empty(); }
  /// True if claims get nothing now, because the queue is frozen, or paused without an end or with
  /// an end after `now_ms`.
  [[nodiscard]] bool is_paused(std::int64_t now_ms) const noexcept {
    return frozen || (paused && (!paused_until_ms || now_ms < *paused_until_ms));
  }
  /// Messages in all stages, remembered ones included.
  [[nodiscard]] std::uint64_t messages() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t in_stage : count) sum += in_stage;
    return sum;
  }
  [[nodiscard]] std::uint64_t in(Stage stage) const noexcept {
    return count[static_cast<std::size_t>(stage)];
  }
};

class QueueTable {
 public:
  QueueTable(MessageSlab& slab, HandleBlocks& blocks) noexcept : slab_(&slab), blocks_(&blocks) {}

  [[nodiscard]] QueueState& operator[](QueueId id) noexcept { return *queues_[id]; }
  [[nodiscard]] const QueueState& operator[](QueueId id) const noexcept { return *queues_[id]; }
  /// kNoQueue if no queue has that name.
  [[nodiscard]] QueueId find(std::string_view name) const;
  /// All queues have numbers below this. Some of these numbers may be free.
  [[nodiscard]] std::size_t size() const noexcept { return queues_.size(); }
  /// Existing queues.
  [[nodiscard]] std::size_t live() const noexcept { return ids_.size(); }
  /// The number for the next new queue.
  [[nodiscard]] QueueId next() const noexcept {
    return free_.empty() ? static_cast<QueueId>(queues_.size()) : *free_.begin();
  }

  /// Makes room for the number `id`, which is at most size().
  void reach(QueueId id);
  /// Gives a free number a name, which no other queue has.
  void name(QueueId id, std::string_view name);
  /// Gives an existing queue another name, which no other queue has.
  void rename(QueueId id, std::string_view name);
  /// Forgets all of the queue, and frees its number.
  void free(QueueId id);

 private:
  MessageSlab* slab_;
  HandleBlocks* blocks_;
  std::vector<std::unique_ptr<QueueState>> queues_;
  std::unordered_map<std::string, QueueId, base::StringHash, std::equal_to<>> ids_;
  std::set<QueueId> free_;
};

}  // namespace tarry::embedded
