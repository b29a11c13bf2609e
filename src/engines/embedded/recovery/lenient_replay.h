// LenientReplay: makes a state that a shard can run from, out of the good batches of a damaged
// journal. If records contradict each other, recovery reports damage. This replay prefers the newer
// record:
//
//   a full record of a message that is there    its state is replaced
//   another message at a message's handle, or   the older message had ended
//   with its key
//   a record of a message that is not there     counted; its data is lost
//   a queue whose name is lost                  gets a name: "salvaged-SHARD-NUMBER"
//   a queue under the number or with the name   the earlier queue has gone (queue_names.h)
//   of another
//
// A message without any record after the last gap may have ended in that gap. It is kept, because
// messages are delivered at least once.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/recovery/journal_walk.h"
#include "engines/embedded/recovery/queue_names.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

class LenientReplay final : public JournalWalk::Visitor {
 public:
  /// A value in `queues_told_ms`: nothing is lost after the queue's last record.
  static constexpr std::int64_t kNothingLost = std::numeric_limits<std::int64_t>::max();

  struct Figures {
    JournalWalk::Figures walk;
    std::uint64_t records = 0;
    std::uint64_t lost_messages = 0;           // known only from later records
    std::uint64_t uncertain_messages = 0;      // may have ended or changed in a gap
    std::vector<std::int64_t> queues_told_ms;  // by number: time of its last record
    std::vector<QueueId> unnamed;              // queues whose name is lost
  };

  /// `state` has begun replay and is empty.
  LenientReplay(JournalWalk& walk, ShardState& state) : walk_(&walk), state_(&state) {}

  /// Reads the journal twice: first for names and the low-water mark, then for everything else.
  /// Leaves the links to `finish_replay`. Errors: the walk's.
  Result<Figures> run(const std::function<void(std::uint64_t)>& progress);

 private:
  void opening_lost() override;
  void gap() override;
  std::size_t batch(std::uint64_t segment, std::uint64_t body_offset,
                    std::string_view body) override;

  struct Survey;
  void make_queues(const QueueNames& names, std::uint32_t count);
  void take(const Record& record, std::uint64_t segment, std::uint64_t offset);
  void take_queue(const QueueRecord& record);
  void end(const QueueNames::Ended& ended);
  void put(const PutRecord& record, std::uint64_t segment, std::uint64_t offset);
  [[nodiscard]] bool known(std::uint32_t queue) const noexcept {
    return queue < state_->queues.size();
  }
  /// True if the record's message exists. `ends`: the record ends the message; only `forgotten` may
  /// follow.
  bool find(Ref ref, bool ends);
  void forget(Handle handle);
  [[nodiscard]] bool has_key(Handle handle, const PutRecord& record);
  void finish();

  JournalWalk* walk_;
  ShardState* state_;
  Figures figures_;
  QueueNames names_;
  std::uint32_t gaps_ = 0;
  std::vector<std::uint32_t> gaps_before_queue_;  // gaps before a queue's last record, by number
  std::vector<std::uint32_t> gaps_before_;        // gaps before a message's last record, by handle
  std::unordered_set<std::uint64_t> only_told_;   // ids of messages whose full record is lost
  std::uint64_t newest_segment_ = 0;
  std::string buffer_;
};

}  // namespace tarry::embedded
