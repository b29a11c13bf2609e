// Shard: the state machine. Decides what a request does now, writes the result as records, and lets
// the records change the state. Its caller tells it the time. It uses no clock, file or thread
// except through Journal. Each kind of request is decided by a class of its own (Pushes, Claims,
// Removals, ...); Shard runs the turns and the cleaning.
//
// A turn: `advance` to now, `execute` each part, `serve_waiting`, `work_slice`, then `take_job` for
// the committer. An answer leaves with the job. When the job's batches are durable, so is
// everything that the answer tells.
//
// Thread safety: none; the shard's thread owns it. The tasks that it puts into jobs run on the
// committer's thread. They touch only their own data, the segment files, and the Router.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/journal/committer.h"
#include "engines/embedded/journal/journal.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/shard/claims/claim_taker.h"
#include "engines/embedded/shard/claims/claims.h"
#include "engines/embedded/shard/claims/read_ahead.h"
#include "engines/embedded/shard/context/shard_config.h"
#include "engines/embedded/shard/context/shard_context.h"
#include "engines/embedded/shard/requests/operation.h"
#include "engines/embedded/shard/verbs/forecasts.h"
#include "engines/embedded/shard/verbs/key_verbs.h"
#include "engines/embedded/shard/verbs/pushes.h"
#include "engines/embedded/shard/verbs/queries.h"
#include "engines/embedded/shard/verbs/queues.h"
#include "engines/embedded/shard/verbs/receipt_verbs.h"
#include "engines/embedded/shard/verbs/removals.h"
#include "engines/embedded/shard/verbs/sweeps.h"
#include "engines/embedded/shard/verbs/time_events.h"
#include "engines/embedded/state/shard_state.h"
#include "timing/clock.h"

namespace tarry::embedded {

class Shard {
 public:
  struct Figures {
    std::uint64_t clock_steps = 0;
    std::uint64_t cleaned_segments = 0;
    std::uint64_t copied_messages = 0;
  };

  /// `reads` is for the tasks of its jobs; the shard's own thread never touches it.
  Shard(const ShardConfig& config, ShardState& state, Journal& journal, Committer& committer,
        RecordReads& reads, SegmentFiles& files, Router& router);

  void advance(timing::Instant now);
  /// Call `keep_back` at opening: takes the room of the reserve, as far as there is any, before
  /// other programs take it. The last run freed its reserve when it ended.
  void keep_back();
  void execute(Part part);
  /// Serves waiting claims for which messages are due now.
  void serve_waiting();
  /// Does a slice of cleaning and of long sweeps (purge, revive all). True while there is more to
  /// do.
  bool work_slice();
  [[nodiscard]] CommitJob take_job();
  /// Call `freeze` before the first part. Requests for the queue then wait until its removal has
  /// ended.
  void freeze(const std::string& queue) { removals_.freeze(queue); }
  /// The records that the next claims will probably need: the front messages of each queue that was
  /// claimed from since the last call, unless they are still in RAM.
  [[nodiscard]] std::vector<RecordPlace> look_ahead() { return read_ahead_.look(); }

  /// When to call `advance` next, by each clock; empty if that clock needs no call.
  [[nodiscard]] std::optional<std::int64_t> next_realtime_ms() const;
  [[nodiscard]] std::optional<std::int64_t> next_boottime_ms() const;

  /// The reason why the shard has stopped, if it has. All later parts fail with it.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept {
    return context_.failure.error();
  }
  void fail(Error error);

  /// Completes all waiting requests. Call `take_job` afterwards: that job, the shard's last one
  /// with requests, is synced under every policy.
  void close();
  /// Call `end_journal` when the job of `close` is done. Writes the record of a clean end. Its
  /// batch proves that all earlier batches were durable, so later losses are damage and not a torn
  /// tail. Call `take_job` afterwards.
  void end_journal();
  [[nodiscard]] Figures figures() const noexcept {
    return {time_events_.clock_steps(), cleaned_segments_, copied_messages_};
  }

 private:
  void decide(const Part& part);
  /// Gives back the leases of limited queues that have ended in this turn, once that is durable.
  void give_back_leases();
  void room_at_gate(std::uint64_t gate);
  /// Groups of the queue that were at their limit, and need not be any more, join the turn.
  void readmit_groups(QueueId queue);
  /// Ends all sweeps, all forecasts, and all parts that wait for a removal, with `error`.
  void end_long_work(const Error& error);
  bool go_on();
  // -- cleaning
  bool clean_slice();
  [[nodiscard]] bool cleaning_is_due();
  void close_head();
  void release(const SegmentInfo& cleaned);
  /// The files of `removed` cleaned segments are gone, and those of `reusable` others may be used
  /// again.
  void room_is_back(std::uint64_t removed, std::uint64_t reusable);

  ShardContext context_;
  Queues queues_;
  Pushes pushes_;
  KeyVerbs by_key_;
  ReceiptVerbs by_receipt_;
  ReadAhead read_ahead_;
  ClaimTaker claim_taker_;
  Claims claims_;
  Sweeps sweeps_;
  Forecasts forecasts_;
  Removals removals_;
  Queries queries_;
  TimeEvents time_events_;
  std::uint64_t cleaned_segments_ = 0;
  std::uint64_t copied_messages_ = 0;
  bool closing_ = false;
};

}  // namespace tarry::embedded
