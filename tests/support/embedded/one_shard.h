// For tests: one shard, its journal and its committer on one thread, step by step. A turn decides
// and hands over a job; a commit makes the job durable. Between the two the power may fail.
//
// Thread safety: none.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "engines/embedded/journal/committer.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/records/tokens.h"
#include "engines/embedded/recovery/recovery.h"
#include "engines/embedded/shard/shard.h"
#include "support/embedded/journal.h"
#include "support/embedded/state.h"

namespace tarry::embedded::test {

class OneShard final : public Router {
 public:
  struct Options {
    std::uint64_t segment_bytes = 4096;
    SyncPolicy policy = SyncPolicy::always;
    bool keeps_history = true;  // slow: describes the whole state in each turn
    ShardSlices slices = {};
    std::uint64_t work_base = ShardConfig::kWorkBase;
    std::uint64_t kept_claims = ShardConfig::kKeptClaims;
    Mark mark = {};
    bool skips_ids = false;  // as the engine does after an unclean end
    std::uint64_t recent_bytes = RecordReads::kRecentBytes;
    std::uint32_t shards = 1;  // of which this is the first one
  };

  /// The step of a turn that has just ended, for an observer of the shard.
  enum class Moment : std::uint8_t { time, part, waiters, work };
  using Watch = std::function<void(Moment, const Part*)>;

  OneShard(std::unique_ptr<storage::Directory> directory, timing::ManualClock& clock,
           Options options)
      : directory_(std::move(directory)),
        clock_(&clock),
        state_(identity(clock, options.shards), clock.now()),
        reads_(files_, *directory_, options.recent_bytes),
        committer_(options.policy, *directory_, files_, clock, &reads_) {
    state_.begin_replay();
    RecoveryOptions recovery;
    recovery.store_id = kStoreId;
    recovery.hash_seed = kHashSeed;
    if (options.mark) recovery.mark = [&](Row row) { options.mark(name_of(row)); };
    auto recovered = recover(*directory_, files_, state_, recovery);
    if (!recovered) {
      error_ = recovered.error();
      return;
    }
    state_.finish_replay(clock.now());
    report_ = recovered->report;
    if (options.skips_ids && report_.files > 0 && !report_.clean) state_.skip_ids(kSkippedIds);
    durable_ = recovered->tail.next_batch - 1;
    last_taken_ = answered_ = durable_;
    keeps_history_ = options.keeps_history;
    if (keeps_history_) history_[durable_] = describe(state_, false);
    committer_.start_at(durable_, recovered->tail.begun);
    Journal::Config config;
    config.store_id = kStoreId;
    config.hash_seed = kHashSeed;
    config.segment_bytes = options.segment_bytes;
    config.policy = options.policy;
    journal_ = std::make_unique<Journal>(
        config, *directory_, files_, committer_, std::move(recovered->tail),
        [this](std::string& out) { state_.append_opening(out, clock_->now()); });
    ShardConfig shard;
    shard.slices = options.slices;
    shard.work_base = options.work_base;
    shard.kept_claims = options.kept_claims;
    shard.mark = options.mark;
    shard_ = std::make_unique<Shard>(shard, state_, *journal_, committer_, reads_, files_, *this);
    shard_->keep_back();
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const ShardState& state() const { return state_; }
  [[nodiscard]] Shard& shard() { return *shard_; }
  [[nodiscard]] Journal& journal() { return *journal_; }
  [[nodiscard]] Committer& committer() { return committer_; }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  /// The state after each turn, by the number of the batch that ended the turn.
  [[nodiscard]] const std::map<std::uint64_t, std::string>& history() const { return history_; }
  /// The last batch that had to be durable for an answer given so far.
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

  [[nodiscard]] const RecoveryReport& report() const { return report_; }
  /// The last batch that a turn has handed over, and the number of jobs that wait for a commit.
  [[nodiscard]] std::uint64_t last_taken() const { return last_taken_; }
  [[nodiscard]] std::size_t jobs() const { return jobs_.size(); }
  /// The batch that was written last, while it is kept in RAM.
  [[nodiscard]] std::shared_ptr<const SealedBatch> written_last() const {
    return written_last_.lock();
  }
  [[nodiscard]] bool has_more_work() const { return has_more_work_; }
  [[nodiscard]] bool idle() const { return inbox_.empty() && !has_more_work_ && jobs_.empty(); }
  void watch(Watch watch) { watch_ = std::move(watch); }

  using Done = std::function<void(const Result<core::Reply>&)>;
  OperationPtr submit(core::Request request, Done done = {}) {
    Part part;
    part.op = std::make_shared<Operation>(
        std::move(request),
        [done = std::move(done)](Result<core::Reply> reply) {
          if (done) done(reply);
        },
        Operation::Completes::engine);
    std::visit([&](const auto& asked) { prepare(*part.op, asked); }, part.op->request);
    OperationPtr op = part.op;
    inbox_.push_back(std::move(part));
    return op;
  }

  void turn() {
    shard_->advance(clock_->now());
    tell(Moment::time);
    for (Part& part : std::exchange(inbox_, {})) {
      const Part copy = part;
      shard_->execute(std::move(part));
      tell(Moment::part, &copy);
    }
    shard_->serve_waiting();
    tell(Moment::waiters);
    has_more_work_ = shard_->work_slice();
    tell(Moment::work);
    if (committer_.failed() && !shard_->failure()) {
      shard_->fail({ErrorCode::io_error, "the journal could not be written"});
      shard_->serve_waiting();
    }
    take(shard_->take_job());
  }

  /// Makes the oldest job durable. False if there is none.
  bool commit() {
    if (jobs_.empty()) return false;
    auto [last, job] = std::move(jobs_.front());
    jobs_.pop_front();
    const bool answers = !job.tasks.empty() || !job.answers.empty();
    if (!job.batches.empty()) written_last_ = job.batches.back();
    committer_.run(std::move(job));
    if (!committer_.failed() && answers) answered_ = std::max(answered_, last);
    return true;
  }

  /// The engine's committing thread does this while it has no job.
  void read_ahead() { read_ahead(shard_->look_ahead()); }
  void read_ahead(const std::vector<RecordPlace>& places) {
    for (std::size_t done = 0; done < places.size();) {
      done += reads_.read_ahead(std::span(places).subspan(done));
    }
  }

  /// Turns and commits until nothing is left to do.
  void settle() {
    do {
      turn();
      while (commit()) {
      }
    } while (!inbox_.empty() || has_more_work_);
  }

  /// Ends like the engine: every request is answered, and the journal says that it was closed.
  void close() {
    turn();
    shard_->close();
    take(shard_->take_job());
    while (commit()) {
    }
    shard_->end_journal();
    take(shard_->take_job());
    while (commit()) {
    }
    if (!committer_.failed()) (void)journal_->trim();
  }

  Result<core::Reply> ask(core::Request request) {
    std::optional<Result<core::Reply>> answer;
    submit(std::move(request), [&](const Result<core::Reply>& reply) { answer.emplace(reply); });
    while (!answer) {
      turn();
      while (commit()) {
      }
    }
    return *answer;
  }

  // -- Router
  void finish_part(const OperationPtr& op) override {
    if (op->parts.fetch_sub(1) != 1) return;
    if (std::holds_alternative<core::RemoveRequest>(op->request) && go_on_removing(op)) return;
    if (op->error) {
      op->completion(*op->error);
    } else {
      op->completion(std::move(op->reply));
    }
  }
  void claim_visited(const OperationPtr& op, std::uint32_t /*shard*/) override {
    const auto& request = std::get<core::ClaimRequest>(op->request);
    const bool empty = std::get<core::ClaimReply>(op->reply).items.empty();
    if (op->phase.load() == ClaimPhase::taken || !empty || request.wait.count() == 0) {
      return finish_part(op);
    }
    op->wait_until_boot_ms = clock_->now().boottime_ms + request.wait.count();
    op->waited = true;
    op->phase.store(ClaimPhase::waiting);
    Part part;
    part.kind = Part::Kind::wait;
    part.op = op;
    inbox_.push_back(std::move(part));
  }
  void list_visited(const OperationPtr& op, std::uint32_t /*shard*/, Handle cursor,
                    bool exhausted) override {
    if (exhausted) return finish_part(op);
    Part part;
    part.op = op;
    part.cursor = cursor;
    inbox_.push_back(std::move(part));
  }
  void post(std::uint32_t /*shard*/, Part part) override { inbox_.push_back(std::move(part)); }
  void release(const core::ClaimReply&) override {}  // in these tests there is always enough memory
  void log(const LogEntry& entry) override { lines_.emplace_back(entry.text); }

  static constexpr std::uint64_t kSkippedIds = 1000;

 private:
  void tell(Moment moment, const Part* part = nullptr) const {
    if (watch_) watch_(moment, part);
  }

  void take(CommitJob job) {
    if (!job.batches.empty()) {
      last_taken_ = job.batches.back()->number;
      if (keeps_history_) history_[last_taken_] = describe(state_, false);
    }
    if (!job.empty()) jobs_.emplace_back(last_taken_, std::move(job));
  }

  // With one shard, the engine's front does this between the steps of a removal
  // (queue_removals.cpp).
  bool go_on_removing(const OperationPtr& op) {
    const auto& request = std::get<core::RemoveRequest>(op->request);
    const RemoveStep done = op->step;
    if (done == RemoveStep::thaw) return false;
    if (done == RemoveStep::look && !op->decided && !op->error) {
      if (!op->found) {
        op->fail({ErrorCode::not_found, "there is no queue " + request.queue});
      } else if (op->leased != 0 && !request.force) {
        op->fail({ErrorCode::conflict, "messages of queue " + request.queue + " are leased"});
      }
    }
    op->step = RemoveStep::thaw;
    if (!op->error && done == RemoveStep::decide) op->decided = true;
    if (!op->error && done == RemoveStep::sweep) op->step = RemoveStep::free;
    if (!op->error && (done == RemoveStep::look || done == RemoveStep::decide)) {
      op->step = op->decided ? RemoveStep::sweep : RemoveStep::decide;
    }
    op->parts.store(1);
    Part part;
    part.op = op;
    inbox_.push_back(std::move(part));
    return true;
  }

  static ShardState::Identity identity(const timing::ManualClock& clock, std::uint32_t shards) {
    ShardState::Identity identity = Recovery::identity(clock.boot_id());
    identity.shards = shards;
    return identity;
  }

  // The engine's front does this before it hands a request to a shard.
  template <typename Items, typename Pick>
  static void prepare_pushes(Operation& op, const std::string& bytes, const Items& items,
                             const Pick& pick) {
    core::PushReply reply;
    reply.items.resize(items.size());
    for (core::PushResult& item : reply.items) {
      item.key = core::append(reply.bytes, std::string(kGeneratedKeySize, ' '));
    }
    for (const auto& item : items) {
      op.prepared.payload_crcs.push_back(base::crc32c(core::view(bytes, pick(item).payload)));
    }
    op.reply = std::move(reply);
  }
  static void prepare(Operation& op, const core::PushRequest& request) {
    prepare_pushes(op, request.bytes, request.items, std::identity());
  }
  static void prepare(Operation& op, const core::MoveRequest& request) {
    prepare_pushes(op, request.bytes, request.items,
                   [](const core::MoveItem& item) -> const core::PushItem& { return item.push; });
  }
  static void prepare_items(Operation& op, std::size_t count) {
    core::ItemsReply reply;
    reply.items.resize(count);
    op.reply = std::move(reply);
  }
  template <typename Request>
  static void prepare_claims(Operation& op, const Request& request) {
    prepare_items(op, request.items.size());
    for (const auto& item : request.items) {
      const auto receipt = parse_receipt(core::view(request.bytes, item.receipt));
      op.prepared.claims.push_back(
          receipt ? ClaimName{receipt->handle, receipt->claims, receipt->id} : ClaimName());
    }
  }
  static void prepare(Operation& op, const core::CancelRequest& request) {
    prepare_items(op, request.keys.size());
  }
  static void prepare(Operation& op, const core::RescheduleRequest& request) {
    prepare_items(op, request.items.size());
  }
  static void prepare(Operation& op, const core::SettleRequest& request) {
    prepare_claims(op, request);
  }
  static void prepare(Operation& op, const core::ExtendRequest& request) {
    prepare_claims(op, request);
  }
  static void prepare(Operation& op, const core::ClaimRequest&) { op.reply = core::ClaimReply(); }
  static void prepare(Operation& op, const core::GetRequest& request) {
    core::GetReply reply;
    for (std::size_t i = 0; i < request.keys.size(); ++i) {
      reply.items.emplace_back(Error{ErrorCode::not_found, ""});
    }
    op.reply = std::move(reply);
  }
  static void prepare(Operation& op, const core::ListRequest&) { op.reply = core::ListReply(); }
  static void prepare(Operation& op, const core::StatsRequest&) {
    op.reply = StoreStats();
    op.figures.resize(1);
  }
  static void prepare(Operation& op, const core::ForecastRequest& request) {
    core::ForecastReply reply;
    reply.buckets.resize(request.buckets);
    op.reply = std::move(reply);
  }
  static void prepare(Operation& op, const core::ConfigureRequest&) {
    op.reply = core::ConfigureReply();
  }
  static void prepare(Operation& op, const core::PauseRequest&) { op.reply = core::CountReply(); }
  static void prepare(Operation& op, const core::ResumeRequest&) { op.reply = core::CountReply(); }
  static void prepare(Operation& op, const core::PurgeRequest&) { op.reply = core::CountReply(); }
  static void prepare(Operation& op, const core::RemoveRequest&) { op.reply = core::CountReply(); }
  static void prepare(Operation& op, const core::ReviveRequest&) { op.reply = core::CountReply(); }
  static void prepare(Operation& op, const core::ReshardRequest&) { op.reply = ReshardStep(); }

  std::unique_ptr<storage::Directory> directory_;
  timing::ManualClock* clock_;
  SegmentFiles files_;
  ShardState state_;
  RecordReads reads_;
  Committer committer_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Shard> shard_;
  std::optional<Error> error_;
  RecoveryReport report_;
  Watch watch_;
  std::vector<Part> inbox_;
  bool has_more_work_ = false;
  bool keeps_history_ = true;
  std::deque<std::pair<std::uint64_t, CommitJob>> jobs_;
  std::map<std::uint64_t, std::string> history_;
  std::weak_ptr<const SealedBatch> written_last_;
  std::uint64_t last_taken_ = 0;
  std::uint64_t durable_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace tarry::embedded::test
