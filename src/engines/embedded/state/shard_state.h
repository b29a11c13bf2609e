// ShardState: everything that a shard knows, and `evolve`, the only function that changes it: one
// record at a time, live and in replay alike. It has no clock, no I/O and no rules: the rules are
// in Shard (decide).
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. Replaying the journal's records in order gives the same state as living through them did,
//     except for the links of wheels and lanes and the order of expiries, which `finish_replay`
//     makes.
//  2. A message that is not free is in exactly one list: due wheel, lease wheel or ready lane
//     (message_slab.h).
//  3. For each queue: accepted = scheduled + ready + leased + dead + acked + cancelled + replaced +
//     expired + purged + moved_away, from the first segment of the store on.
//  4. If the message at a record's handle has another id, the record changes only counters, because
//     a later full record has superseded the rest of it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/result.h>
#include <tarry/settings.h>

#include "engines/embedded/records/records.h"
#include "engines/embedded/state/clock_eras.h"
#include "engines/embedded/state/lanes/gated_queues.h"
#include "engines/embedded/state/live_bytes.h"
#include "engines/embedded/state/messages/event_lists.h"
#include "engines/embedded/state/messages/handle_list.h"
#include "engines/embedded/state/messages/history_slab.h"
#include "engines/embedded/state/messages/key_index.h"
#include "engines/embedded/state/messages/message_slab.h"
#include "engines/embedded/state/messages/own_options.h"
#include "engines/embedded/state/messages/reasons.h"
#include "engines/embedded/state/queue_table.h"
#include "timing/clock.h"
#include "timing/wheel.h"

namespace tarry::embedded {

class ShardState {
 public:
  struct Identity {
    std::uint64_t store_id = 0;
    std::uint64_t hash_seed = 0;
    std::uint32_t shard = 0;
    std::uint32_t shards = 1;
    std::uint64_t boot_id = 0;
  };

  ShardState(const Identity& identity, timing::Instant now);
  ShardState(const ShardState&) = delete;
  ShardState& operator=(const ShardState&) = delete;

  // -- replay
  void begin_replay() noexcept;
  /// Errors: `damaged` for a record that contradicts the state before it.
  Result<void> replay(const Record& record, std::uint64_t segment, std::uint64_t offset);
  Result<void> replay(const PutRecord& put, std::uint64_t segment, std::uint64_t offset);
  /// Puts all messages into wheels and lanes, as of `now`.
  void finish_replay(timing::Instant now);
  /// The leases that finish_replay has started again: they began in another boot, whose BOOTTIME
  /// means nothing in this boot. Returns them once.
  [[nodiscard]] std::vector<Handle> take_renewed_leases() noexcept {
    return std::exchange(renewed_leases_, {});
  }
  void give_back_renewed_leases(std::vector<Handle> leases) noexcept {
    renewed_leases_ = std::move(leases);
  }

  // -- evolve
  void evolve(const QueueRecord& record);
  /// `position` is the record's place in segment `segment`.
  void evolve(const PutRecord& record, std::uint64_t segment, Position position);
  void evolve(const DueRecord& record);
  /// A claim evolves message by message while it is being decided; then `count_claims` does the
  /// queue's part. Together these calls have the effect of the whole record.
  void evolve(const ClaimedRecord& record, const ClaimedItem& item);
  void count_claims(QueueId queue, std::size_t count);
  void evolve(const BackRecord& record);
  void evolve(GoneWhy why, QueueId queue, Ref ref);
  void evolve(const RememberedRecord& record, Ref ref);
  void evolve(const DeadRecord& record);
  void evolve(const StoppingRecord& record);
  void evolve(const LeaseRecord& record);
  void evolve(const ClockRecord& record);
  void evolve(const MarksRecord& record);

  /// Call `open_gates` when the replay has ended: from now on queues with limits have gates.
  void open_gates(std::shared_ptr<QueueGates> gates);

  // -- changes that time causes, without a record
  void make_ready(Handle handle);  // scheduled -> ready
  void hold(Handle handle);        // scheduled; due by REALTIME, not yet by BOOTTIME
  void unhold(Handle handle);      // due by BOOTTIME, but no longer by REALTIME
  /// Lets a lease begin at the BOOTTIME `boot_ms`, instead of when its claim was decided.
  void begin_lease(Handle handle, std::int64_t boot_ms);
  /// Call `put_back_if_postponed` when the wheel has handed out a lease. True if the lease has not
  /// ended; then it is in the wheel again.
  [[nodiscard]] bool put_back_if_postponed(Handle handle, std::int64_t now_boot_ms);
  /// The wall clock went back to `now_ms`: messages that are no longer due become scheduled again.
  void step_back(std::int64_t now_ms, bool rebase);

  /// Appends the opening of a new segment: clock, marks, every queue with its counters. So all
  /// earlier segments can be removed.
  void append_opening(std::string& out, timing::Instant now) const;

  // -- prefetching the data of a handle, if there is any
  void prefetch(Handle handle) const noexcept {
    if (handle < slab.end()) slab.prefetch(handle);
  }
  void prefetch_history(Handle handle) const noexcept {
    if (!slab.is_live(handle)) return;
    if (const HistoryHandle at = slab[handle].history; at != kNoHistory) histories.prefetch(at);
  }

  // -- questions
  [[nodiscard]] QueueState& queue(QueueId id) noexcept { return queues[id]; }
  [[nodiscard]] const QueueState& queue(QueueId id) const noexcept { return queues[id]; }
  [[nodiscard]] std::uint64_t key_hash(QueueId queue, std::string_view key) const noexcept;
  [[nodiscard]] std::uint32_t store_tag() const noexcept {
    return static_cast<std::uint32_t>(identity_.store_id);
  }
  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }
  /// The id that the next accepted push gets: unique in the store, rising in the shard.
  [[nodiscard]] std::uint64_t next_id() const noexcept {
    return next_id_ * identity_.shards + identity_.shard;
  }
  [[nodiscard]] std::uint64_t next_id_mark() const noexcept { return next_id_; }
  [[nodiscard]] std::uint64_t low_water() const noexcept { return low_water_; }
  /// The last events of a message; null: there are none.
  [[nodiscard]] const EventList* events(Handle handle) const;
  /// True if some queue has the setting `history`.
  [[nodiscard]] bool keeps_history() const noexcept { return queues_with_history_ != 0; }
  /// The message's own, or its queue's.
  [[nodiscard]] std::uint32_t max_attempts(Handle handle) const;
  /// Skips `count` ids. If the end of the journal may be lost, these ids may have been given.
  void skip_ids(std::uint64_t count) noexcept { next_id_ += count; }
  /// Messages that are scheduled, ready or leased.
  [[nodiscard]] std::uint64_t pending() const noexcept { return pending_; }
  [[nodiscard]] std::uint64_t ram_bytes() const noexcept;
  /// Messages whose full records grow by a BOOTTIME due when they are copied.
  [[nodiscard]] std::uint64_t unwritten_boot_dues() const noexcept { return unwritten_boot_dues_; }
  /// The full state of a message, for a copy; `reason` and `events` point into this state.
  [[nodiscard]] Carried carried(Handle handle) const;
  [[nodiscard]] std::optional<std::int64_t> boot_due_ms(const Message& message) const noexcept;

  struct Nodes {
    ShardState* state;
    std::uint32_t& next(Handle handle) noexcept { return state->slab[handle].next; }
    std::uint32_t& prev(Handle handle) noexcept { return state->slab[handle].prev; }
    void prefetch(Handle handle) const noexcept { state->slab.prefetch(handle); }
  };
  struct DueNodes : Nodes {
    [[nodiscard]] std::int64_t deadline(Handle handle) const noexcept;
  };
  struct LeaseNodes : Nodes {
    [[nodiscard]] std::int64_t deadline(Handle handle) const noexcept;
  };

  MessageSlab slab;
  HistorySlab histories;
  HandleBlocks ready_blocks;  // of all queues' lanes
  QueueTable queues{slab, ready_blocks};
  OwnOptions own{slab};
  Reasons reasons;
  KeyIndex index{slab};
  LiveBytes live;
  ClockEras eras;
  GatedQueues gated;
  timing::Wheel<DueNodes> due_wheel;      // by REALTIME
  timing::Wheel<LeaseNodes> lease_wheel;  // by BOOTTIME

 private:
  /// Until finish_replay: the end of a lease that began in another boot.
  static constexpr std::int64_t kOtherBoot = std::numeric_limits<std::int64_t>::min();

  void postpone_lease(Handle handle, std::int64_t by_ms);
  /// Calls `use` with the wheel or the lanes where a message in its stage stands.
  template <typename Use>
  void with_links(const Message& message, Use use);
  void arm(Handle handle);
  void disarm(Handle handle);
  void set_stage(Handle handle, Stage stage) noexcept;
  void fit_gate(QueueId queue);
  // -- histories: shard_events.cpp
  [[nodiscard]] EventList* list_of(Handle handle);
  template <typename Change>
  void change(Handle handle, EventList& list, Change&& change);
  void note(Handle handle, const EventEntry& event);
  void note_back(const BackRecord& record, std::uint32_t attempt);
  void note_dead(const DeadRecord& record, std::uint32_t attempt);
  void note_end(Handle handle, Ending ending, std::int64_t at_ms, std::uint32_t attempt);
  void restore_events(Handle handle, const Carried& carried);
  void count_events_as_written(Handle handle);
  void drop_events(Handle handle);
  void fit_history(QueueId queue, std::uint32_t before);  // `before`: its setting until now
  /// If this shard is the queue's home: tells the others whether its messages are all here.
  void fit_home(const std::string& queue, GroupOrder order);
  void remove(Handle handle);
  void restore(Handle handle, const PutRecord& record);
  History& history_of(Message& message) {
    if (message.history == kNoHistory) message.history = histories.allocate();
    return histories[message.history];
  }
  void take_reason(Message& message, std::string_view text);
  void drop_reason(Message& message);
  void count_reason_as_written(Message& message);
  void set_due(Message& message, std::int64_t due_ms, std::optional<std::int64_t> boot_due_ms);
  void move_due(Message& message, std::int64_t due_ms, std::optional<std::int64_t> boot_due_ms);
  [[nodiscard]] QueueCounters& counters(QueueId queue) { return queues[queue].counters; }

  Identity identity_;
  std::uint64_t next_id_ = 1;
  std::uint64_t low_water_ = 1;
  std::uint64_t pending_ = 0;
  std::uint64_t queues_with_history_ = 0;
  std::uint64_t event_bytes_ = 0;  // in RAM, about
  std::uint64_t unwritten_boot_dues_ = 0;
  std::uint64_t newest_segment_ = 0;
  std::vector<Handle> renewed_leases_;
  bool replaying_ = false;
  bool same_boot_ = true;
};

}  // namespace tarry::embedded
