// RecordWriter: writes the decisions of a shard. Each record goes into the journal's open batch,
// and changes the state at once, so that the two always agree. The caller has taken room for it
// before (kept_room.h).
//
// Records of queues with the setting `history` note events, as long as there is room.
//
// If the record may make a message claimable by its key, waiting claims by key are woken. If it may
// end a lease of a queue with limits, or let the next message of a group go, all waiting claims of
// the queue are.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/records/records.h"
#include "engines/embedded/shard/requests/waiting_claims.h"
#include "engines/embedded/state/shard_state.h"
#include "timing/clock.h"

namespace tarry::embedded {

class RecordWriter {
 public:
  /// `now`: the time of the shard's turn. All arguments must outlive it.
  RecordWriter(ShardState& state, Journal& journal, WaitingClaims& waiting,
               const timing::Instant& now)
      : state_(&state), journal_(&journal), waiting_(&waiting), now_(&now) {}

  void write(const QueueRecord& record);
  void write(const PutRecord& record);
  void write(DueRecord record);
  /// `reason`: of a retry, for the message's history only.
  void write(BackRecord record, std::string_view reason = {});
  void write(StoppingRecord record);
  void write(const LeaseRecord& record);
  void write_gone(GoneWhy why, Handle handle);
  /// The message becomes dead for the queue's `dead_keep`. A reason over the limit is cut.
  void write_dead(DeadWhy why, Handle handle, std::uint32_t priority, std::string_view reason);
  /// The message has expired: it ends, or is dead, as the queue's `on_expiry` says.
  void write_expiry(Handle handle);
  /// The message has ended. Its key stays known for the queue's `remember`.
  void write_end(Ending ending, Handle handle);

  /// False: there is no room for events, and the records until the next call note none.
  void note_events(bool note) noexcept { notes_ = note; }
  /// What a record notes now, if the queue has the setting `history`. The text must outlive the
  /// record.
  [[nodiscard]] std::optional<Noted> noted(QueueId queue, std::string_view text = {}) const;

  /// The name of the message in records.
  [[nodiscard]] Ref ref(Handle handle) const noexcept { return {handle, state_->slab[handle].id}; }

 private:
  /// For a record that describes the whole change.
  template <typename Record>
  void log(const Record& record);
  void wake_by_key(QueueId queue) { waiting_->wake_by_key(state_->queue(queue).name); }
  void wake_limited(QueueId id) {
    const QueueState& queue = state_->queue(id);
    const bool in_order = queue.settings.group_order == GroupOrder::push;
    if (queue.at_gate.is_limited() || in_order) waiting_->wake(queue.name);
  }

  ShardState* state_;
  Journal* journal_;
  WaitingClaims* waiting_;
  const timing::Instant* now_;
  bool notes_ = true;
};

}  // namespace tarry::embedded
