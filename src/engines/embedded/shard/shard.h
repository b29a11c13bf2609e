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
#include "engines/embedded/shard/cleaner.h"
#include "engines/embedded/shard/kept_room.h"
#include "engines/embedded/shard/marks.h"
#include "engines/embedded/shard/next_job.h"
#include "engines/embedded/shard/operation.h"
#include "engines/embedded/shard/record_writer.h"
#include "engines/embedded/shard/shard_failure.h"
#include "engines/embedded/shard/uncommitted_leases.h"
#include "engines/embedded/shard/waiting_claims.h"
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

  static constexpr std::uint64_t kWorkBase = 64 * 1024;
  static constexpr std::uint64_t kKeptClaims = 65'536;

  /// How much of a long job is done in one turn: a million messages that fall due together are
  /// handled in slices, with requests served in between.
  struct Slices {
    std::size_t wheel = 65'536;          // messages that time moves, a wheel
    Handle sweep = 65'536;               // handles that a purge or a list looks at
    std::uint64_t cleaning = 512 << 10;  // bytes that cleaning reads, at least
    std::size_t waiting = 32'768;        // queues that claims which end are taken out of
  };

  struct Config {
    std::uint32_t number = 0;
    core::Limits limits;
    std::int64_t rounding_ms = 0;  // timing::Clock::rounding_ms
    Slices slices;
    std::uint64_t work_base = kWorkBase;  // bytes kept back for work, however little there is
    std::uint64_t kept_claims =
        kKeptClaims;  // so many of the messages can be claimed on a full disk
    Mark mark;
  };
  /// `reads` is for the tasks of its jobs; the shard's own thread never touches it.
  Shard(const Config& config, ShardState& state, Journal& journal, Committer& committer,
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
  /// Before the first part: requests for the queue wait until its removal has ended.
  void freeze(const std::string& queue);
  /// The records that the next claims will probably need: the front messages of each queue that was
  /// claimed from since the last call, unless they are still in RAM.
  [[nodiscard]] std::vector<RecordPlace> look_ahead();

  /// When to call `advance` next; by both clocks. Nothing: no need.
  [[nodiscard]] std::optional<std::int64_t> next_realtime_ms() const;
  [[nodiscard]] std::optional<std::int64_t> next_boottime_ms() const;

  /// Set when the shard can do no more: the reason. All later parts fail with it.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_.error(); }
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
  [[nodiscard]] bool is_paused(const QueueState& queue) const noexcept;
  void serve_waiters_of(WaitingClaims::QueueNo queue, std::size_t& budget);
  void serve_waiter(WaitingClaims::Place at, std::size_t& budget);
  [[nodiscard]] bool has_waiters_to_serve() const;
  [[nodiscard]] bool has_any(QueueId queue, const core::ClaimRequest& request);
  [[nodiscard]] bool can_claim(Handle handle, const core::ClaimRequest& request) const;
  // shard_queries.cpp
  void execute(const core::GetRequest& request, const Part& part);
  void execute(const core::ListRequest& request, const Part& part);
  void execute(const core::StatsRequest& request, const Part& part);
  void execute(const core::ForecastRequest& request, const Part& part);
  bool count_slice();
  [[nodiscard]] MessageFacts facts(Handle handle) const;
  [[nodiscard]] QueueStats stats_of(QueueId queue) const;
  // shard_queues.cpp
  void execute(const core::ConfigureRequest& request, const Part& part);
  void execute(const core::PauseRequest& request, const Part& part);
  void execute(const core::ResumeRequest& request, const Part& part);
  void execute(const core::PurgeRequest& request, const Part& part);
  void execute(const core::ReviveRequest& request, const Part& part);
  void execute(const core::ReshardRequest& request, const Part& part);
  // shard_remove.cpp
  void execute(const core::RemoveRequest& request, const Part& part);
  void decide_removal(const core::RemoveRequest& request, const Part& part);
  void free_queue(QueueId queue, const OperationPtr& op);
  void thaw(const std::string& queue, const OperationPtr& op);
  /// True where it waits for the end of a removal, or has failed with it.
  [[nodiscard]] bool parks(Part& part);
  void fail_parked(const Error& error, const std::string& queue);
  // shard_queues.cpp
  void record_queue(QueueId queue, const QueueSettings& settings, bool paused,
                    std::optional<std::int64_t> until_ms);
  void end_long_work();
  bool go_on();
  void close_head();
  bool clean_slice();
  bool sweep_slice();
  enum class SweepKind : std::uint8_t { purge, revive, remove };
  void sweep_one(Handle handle, SweepKind kind, std::uint64_t& count);
  // shard_time.cpp
  void run_wheels();
  void wake_held();
  void due_expired(Handle handle);
  void lease_expired(Handle handle);
  [[nodiscard]] bool expiry_room();
  void record_renewed_leases();
  void observe_step(timing::Instant now);

  // shard.cpp: helpers
  /// Room that making the queue takes; 0 where it is there.
  [[nodiscard]] std::uint64_t queue_bytes(const std::string& name) const;
  /// The queue, made if it is not there; the error goes to every item otherwise.
  Result<QueueId> queue_for_push(const std::string& name);
  [[nodiscard]] Handle resolve(QueueId queue, std::string_view key);
  [[nodiscard]] Handle resolve_or_none(const std::string& queue, std::string_view key);
  struct DueTimes {
    std::int64_t due_ms = 0;
    std::optional<std::int64_t> boot_due_ms;
  };
  [[nodiscard]] std::optional<Error> due_times(Due due, DueTimes& times) const;
  [[nodiscard]] bool cleaning_is_due();
  void release(const SegmentInfo& cleaned);
  /// That many files of cleaned segments are gone, and that many may be used again.
  void room_is_back(std::uint64_t removed, std::uint64_t reusable);
  /// Room for a claim; where there is none for `max` messages, lowers it to what there is room for.
  std::optional<Error> room_to_claim(const core::ClaimRequest& request, std::uint32_t& max);
  /// Takes room for the settlement; if there is none for its reason too, empties the reason.
  std::optional<Error> room_to_settle(const core::SettleItem& item, std::string_view& reason);
  template <typename F>
  void each_item(const Part& part, std::size_t count, F&& f);

  Config config_;
  ShardState* state_;
  Journal* journal_;
  Committer* committer_;
  RecordReads* reads_;
  SegmentFiles* files_;
  Router* router_;
  timing::Instant now_;  // of this turn
  WaitingClaims waiting_;
  ShardFailure failure_;
  NextJob job_;
  RecordWriter records_;
  Cleaner cleaner_;
  KeptRoom room_;
  base::Histogram lateness_;
  Figures figures_;
  bool closing_ = false;

  std::size_t turn_ = 0;  // where a claim of several queues begins

  std::vector<QueueId> claimed_;  // queues with most_claimed

  // long sweeps, a slice a turn
  struct Sweep {
    OperationPtr op;
    QueueId queue = 0;
    SweepKind kind = SweepKind::purge;
    Handle cursor = 0;
    std::uint64_t id_limit = 0;  // messages pushed after the sweep began are left alone
    std::uint64_t count = 0;
  };
  std::deque<Sweep> sweeps_;
  void end_sweep(const Sweep& sweep);

  // queues whose removal is under way
  struct Removal {
    bool decided = false;
    std::optional<Error> stuck;  // it failed half-way: requests for the queue get this
  };
  std::unordered_map<std::string, Removal> removals_;
  std::vector<Part> parked_;

  // forecasts, a slice a turn
  struct Count {
    OperationPtr op;
    QueueId queue = 0;
    std::int64_t now_ms = 0;  // when it was asked
    Handle cursor = 0;
    Handle end = 0;
    core::ForecastReply found;
  };
  std::deque<Count> counts_;

  UncommittedLeases uncommitted_;
};

}  // namespace tarry::embedded
