// Shard: the state machine. Decides what a request does now, writes the result as records, and lets
// the records change the state. It is told the time, and reaches no clock, file or thread except
// through Journal.
//
// A turn: `advance` to now, `execute` each part, `serve_waiters`, `work_slice`, then `take_job` for
// the committer. Every answer leaves with the job whose batches hold the records behind it.
//
// Thread safety: none; the shard's thread owns it. Tasks it puts into jobs run on the committer's
// thread and touch only what they own, the segment files, and the Router.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/histogram.h"
#include "core/limits.h"
#include "core/request.h"
#include "engines/embedded/journal/journal.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/reading/reply_reader.h"
#include "engines/embedded/shard/forecasts.h"
#include "engines/embedded/shard/operation.h"
#include "engines/embedded/shard/queues.h"
#include "engines/embedded/shard/removals.h"
#include "engines/embedded/shard/shard_context.h"
#include "engines/embedded/shard/sweeps.h"
#include "engines/embedded/shard/uncommitted_leases.h"
#include "engines/embedded/state/shard_state.h"
#include "timing/clock.h"

namespace tarry::embedded {

/// How many payload bytes a claim may still hand out. Sizes are known roughly without reading the
/// journal, and never too small. Only a claim that comes near its limit reads.
struct ByteBudget {
  std::uint64_t max = 0;
  bool first_may_exceed = true;  // the first message is handed out whatever its size
  std::uint64_t used = 0;
  bool exact = false;
};

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
  /// Takes the room of the reserve before other programs do, as far as there is room. At opening:
  /// the last run gave its reserve back when it ended.
  void keep_back();
  void execute(Part part);
  /// Claims that wait, for which something is due now.
  void serve_waiters();
  /// A slice of cleaning and of long sweeps (purge, revive all). True while there is more to do.
  bool work_slice();
  [[nodiscard]] CommitJob take_job();
  /// Before the first part: what asks for the queue waits until its removal has come to its end.
  void freeze(const std::string& queue) { removals_.freeze(queue); }
  /// The records that the next claims will probably ask for: of each queue that was claimed from
  /// since the last call what stands in front now, where that is not still in RAM.
  [[nodiscard]] std::vector<RecordPlace> look_ahead();

  /// When to call `advance` next; by both clocks. Nothing: no need.
  [[nodiscard]] std::optional<std::int64_t> next_realtime_ms() const;
  [[nodiscard]] std::optional<std::int64_t> next_boottime_ms() const;

  /// Set when the shard can do no more: the reason. All later parts fail with it.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept {
    return context_.failure.error();
  }
  void fail(Error error);

  /// Completes waiting requests; the shard's last job syncs. Call `take_job` after.
  void close();
  /// Writes the record of a clean end, once that job is done. Its batch proves all batches before
  /// it durable, so later losses are damage and not a torn tail. Call `take_job` after.
  void end_journal();
  [[nodiscard]] const Figures& figures() const noexcept { return figures_; }

 private:
  // shard_push.cpp
  void execute(const core::PushRequest& request, const Part& part);
  void execute(const core::MoveRequest& request, const Part& part);
  template <typename F>
  void push_items(const std::string& name, const Part& part, core::PushReply& reply,
                  std::uint64_t bytes, std::uint64_t largest, F&& push);
  struct Pushed {
    const std::string& bytes;  // of the request
    const core::PushItem& item;
    std::uint32_t payload_crc;
    const core::MoveItem* move;  // the move that it is part of, or null
  };
  void push_one(QueueId queue, const Pushed& pushed, core::PushResult& result,
                std::string& reply_bytes);
  void put_new(QueueId queue, const Pushed& pushed, core::PushResult& result,
               std::string& reply_bytes);
  void push_onto(Handle found, IfExists rule, const Pushed& pushed, core::PushResult& result,
                 std::string& reply_bytes);
  // shard_verbs.cpp
  void execute(const core::CancelRequest& request, const Part& part);
  void execute(const core::RescheduleRequest& request, const Part& part);
  void execute(const core::SettleRequest& request, const Part& part);
  void execute(const core::ExtendRequest& request, const Part& part);
  /// `seen`: not null where it is moved away.
  void cancel_one(QueueId queue, std::string_view key, const core::Seen* seen,
                  core::ItemResult& result);
  [[nodiscard]] bool is_as_seen(const Message& message, const core::Seen& seen) const;
  void reschedule_one(QueueId queue, std::string_view key, const core::RescheduleItem& item,
                      core::ItemResult& result);
  void settle_one(Handle handle, const core::SettleItem& item, std::string_view reason,
                  core::ItemResult& result);
  [[nodiscard]] Handle find_claim(const ClaimName& claim) const;
  [[nodiscard]] bool was_acked_by(const ClaimName& claim) const;
  /// Calls `f(i, handle)` for each item of the part whose receipt names a live claim; the others
  /// get the outcome of `stale(i)`.
  template <typename F, typename G>
  void each_claim(const Part& part, F&& f, G&& stale);
  // shard_claim.cpp
  void execute(const core::ClaimRequest& request, Part& part);
  void wait(const OperationPtr& op);
  /// `start_at`: the first of several queues; if not set, they take turns.
  [[nodiscard]] Grants claim(const core::ClaimRequest& request, std::uint32_t max,
                             ByteBudget budget, std::optional<std::size_t> start_at = std::nullopt);
  void claim_from(QueueId queue, const core::ClaimRequest& request, std::uint32_t max,
                  ByteBudget& budget, Grants& grants);
  void claim_keys(const core::ClaimRequest& request, std::uint32_t max, ByteBudget& budget,
                  Grants& grants);
  [[nodiscard]] bool fits(ByteBudget& budget, const Message& message, const Grants& grants);
  [[nodiscard]] ClaimedRecord begin_claim(QueueId queue, const core::ClaimRequest& request) const;
  void take(Handle handle, ClaimedRecord& record, Grants& grants);
  void end_claim_record(ClaimedRecord record);
  // shard_ahead.cpp
  void note_claimed(QueueId queue, std::size_t count);
  // shard_claim.cpp
  [[nodiscard]] bool ends_claim(const Operation& op, std::size_t granted) const;
  void deliver(const OperationPtr& op, Grants grants);
  void damaged(const Part& part);
  void serve_waiters_of(WaitingClaims::QueueNo queue, std::size_t& budget);
  void serve_waiter(WaitingClaims::Place at, std::size_t& budget);
  [[nodiscard]] bool has_waiters_to_serve() const;
  [[nodiscard]] bool has_any(QueueId queue, const core::ClaimRequest& request);
  [[nodiscard]] bool can_claim(Handle handle, const core::ClaimRequest& request) const;
  // shard_queries.cpp
  void execute(const core::GetRequest& request, const Part& part);
  void execute(const core::ListRequest& request, const Part& part);
  void execute(const core::StatsRequest& request, const Part& part);
  [[nodiscard]] MessageFacts facts(Handle handle) const;
  [[nodiscard]] QueueStats stats_of(QueueId queue) const;
  // shard_time.cpp
  void run_wheels();
  void wake_held();
  void due_expired(Handle handle);
  void lease_expired(Handle handle);
  [[nodiscard]] bool expiry_room();
  void record_renewed_leases();
  void observe_step(timing::Instant now);

  // shard.cpp: helpers
  struct DueTimes {
    std::int64_t due_ms = 0;
    std::optional<std::int64_t> boot_due_ms;
  };
  [[nodiscard]] std::optional<Error> due_times(Due due, DueTimes& times) const;
  void execute(const core::ReshardRequest& request, const Part& part);
  void decide(Part& part);
  /// What takes several turns ends now, with that error.
  void end_long_work(const Error& error);
  bool go_on();
  void close_head();
  bool clean_slice();
  [[nodiscard]] bool cleaning_is_due();
  void release(const SegmentInfo& cleaned);
  /// That many files of cleaned segments are gone, and that many may be used again.
  void room_is_back(std::uint64_t removed, std::uint64_t reusable);
  /// Room for a claim; where there is none for `max` messages, lowers it to what there is room for.
  std::optional<Error> room_to_claim(const core::ClaimRequest& request, std::uint32_t& max);
  /// Takes room for the settlement; if there is none for its reason too, empties the reason.
  std::optional<Error> room_to_settle(const core::SettleItem& item, std::string_view& reason);
  ShardContext context_;
  RecordReads* reads_;
  Queues queues_;
  Sweeps sweeps_;
  Forecasts forecasts_;
  Removals removals_;
  UncommittedLeases uncommitted_;
  base::Histogram lateness_;
  Figures figures_;
  bool closing_ = false;

  std::size_t turn_ = 0;  // where a claim of several queues begins

  std::vector<QueueId> claimed_;  // queues with most_claimed
};

}  // namespace tarry::embedded
