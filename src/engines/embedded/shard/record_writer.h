// RecordWriter: writes down what a shard has decided. Each record goes into the journal's open
// batch, and the state evolves by it at once, so that neither has what the other has not. Room for
// it must have been taken before (kept_room.h).
//
// A record that leaves a message where a claim by key may want it wakes such claims.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/records/records.h"
#include "engines/embedded/shard/waiting_claims.h"
#include "engines/embedded/state/shard_state.h"
#include "timing/clock.h"

namespace tarry::embedded {

class RecordWriter {
 public:
  /// `now`: the shard's, of its turn. All must outlive it.
  RecordWriter(ShardState& state, Journal& journal, WaitingClaims& waiting,
               const timing::Instant& now)
      : state_(&state), journal_(&journal), waiting_(&waiting), now_(&now) {}

  void write(const QueueRecord& record);
  void write(const PutRecord& record);
  void write(const DueRecord& record);
  void write(const BackRecord& record);
  void write(const StoppingRecord& record);
  void write(const LeaseRecord& record);
  void write_gone(GoneWhy why, Handle handle);
  /// The message goes to the dead, for the queue's `dead_keep`. A long reason is cut.
  void write_dead(DeadWhy why, Handle handle, std::uint32_t priority, std::string_view reason);
  /// The message has ended for good: its key stays known for the queue's `remember`.
  void write_end(Ending ending, Handle handle);

  /// How a record names the message.
  [[nodiscard]] Ref ref(Handle handle) const noexcept { return {handle, state_->slab[handle].id}; }

 private:
  void wake_by_key(QueueId queue) { waiting_->wake_by_key(state_->queue(queue).name); }

  ShardState* state_;
  Journal* journal_;
  WaitingClaims* waiting_;
  const timing::Instant* now_;
};

}  // namespace tarry::embedded
