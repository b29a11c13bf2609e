#include "engines/embedded/front/front.h"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "base/assert.h"
#include "core/claimed.h"
#include "core/queue_sums.h"
#include "core/validation.h"
#include "engines/embedded/shard/requests/part_failure.h"

namespace tarry::embedded {
namespace {

Error closed_error() { return {ErrorCode::closed, "the store was closed"}; }

void add(QueueStats& to, const QueueStats& from) {
  core::add_states(to, from);
  // A claim waits at every shard at once.
  to.waiting_claims = std::max(to.waiting_claims, from.waiting_claims);
  to.paused = to.paused || from.paused;
  core::add(to.counters, from.counters);
}

}  // namespace

Front::Front(Config config) : config_(std::move(config)), waiting_(config_.limits) {}

Front::~Front() { close(); }

void Front::start(std::vector<ShardParts> shards, std::unique_ptr<storage::Directory> directory,
                  std::unique_ptr<storage::Lock> lock) {
  directory_ = std::move(directory);
  lock_ = std::move(lock);
  std::vector<std::string> going;
  const ShardState& first = *shards.front().state;
  for (QueueId queue = 0; queue < first.queue_count(); ++queue) {
    if (first.queue(queue).removed) going.push_back(first.queue(queue).name);
  }
  for (ShardParts& parts : shards) {
    for (const std::string& queue : going) parts.shard->freeze(queue);
    const auto number = static_cast<std::uint32_t>(runners_.size());
    runners_.push_back(
        std::make_unique<ShardRunner>(number, std::move(parts), config_.clock, answers_));
  }
  for (auto& runner : runners_) runner->start();
  resume_removals(going);
}

void Front::log(const LogEntry& entry) {
  if (config_.log) config_.log(entry);
}

core::Capabilities Front::capabilities() const {
  core::Capabilities capabilities;
  capabilities.engine = "embedded";
  capabilities.forecast = true;
  capabilities.push_times = config_.identity.version >= kPushTimeVersion;
  capabilities.durable = config_.durable;
  capabilities.manual_clock = config_.clock->rounding_ms() == 0;
  return capabilities;
}

core::Ticket Front::submit(core::Request request, core::Completion completion) {
  const Use use(*this);
  const OperationPtr op =
      begin(std::move(request), std::move(completion), Operation::Completes::engine);
  return op ? op->ticket : 0;
}

// The thread that waits for a claim also reads its messages and completes the operation. Otherwise
// another thread would have to do this before it can wake the waiter, and the data would move from
// one core's cache to the other's.
void Front::submit_waiting(core::Request request, core::Completion completion) {
  const Use use(*this);
  const OperationPtr op =
      begin(std::move(request), std::move(completion), Operation::Completes::waiter);
  if (!op) return;
  lend(*op);
  op->ended.wait();
  try {
    op->read_rest();
    finish_reply(*op);
  } catch (const std::bad_alloc&) {
    // The verb was carried out, so this must not throw; leases that it gave run out. (The text is
    // short enough to need no memory.)
    op->fail({ErrorCode::unknown_outcome, "out of memory"});
  }
  run_completion(*op);
}

// Carries out the parts that this thread has posted, unless another thread does.
void Front::lend(Operation& op) noexcept {
  while (op.lent_to.any()) {
    for (std::uint32_t shard = 0; shard < shards(); ++shard) {
      if (!op.lent_to.test(shard)) continue;
      op.lent_to.reset(shard);
      runners_[shard]->lend();
    }
  }
}

OperationPtr Front::begin(core::Request request, core::Completion completion,
                          Operation::Completes completes) {
  if (closed_.load()) {
    refuse(std::move(completion), closed_error());
    return nullptr;
  }
  if (auto error = core::check_request(request)) {
    refuse(std::move(completion), std::move(*error));
    return nullptr;
  }
  auto op = std::make_shared<Operation>(std::move(request), std::move(completion), completes);
  if (op->is_waited_for() && config_.lends) {
    op->lender.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  // Nobody can withdraw a claim whose caller is blocked in it.
  if (const auto* claim = std::get_if<core::ClaimRequest>(&op->request);
      claim != nullptr && claim->wait.count() > 0 && !op->is_waited_for()) {
    const std::scoped_lock lock(tickets_mutex_);
    op->ticket = next_ticket_++;
    tickets_.emplace(op->ticket, op);
  }
  try {
    std::visit([&](auto& asked) { dispatch(op, asked); }, op->request);
  } catch (...) {  // no memory: no shard has heard of it
    if (op->ticket != 0) {
      const std::scoped_lock lock(tickets_mutex_);
      tickets_.erase(op->ticket);
    }
    throw;
  }
  return op;
}

void Front::post(std::uint32_t shard, Part part) { (void)runners_[shard]->post(part); }

// -- ends

void Front::refuse(core::Completion completion, Error error) {
  answers_.post([completion = std::move(completion), error = std::move(error)]() mutable {
    completion(std::move(error));
  });
}

void Front::finish_later(const OperationPtr& op) {
  answers_.post([this, op] { finish_part(op); });
}

void Front::finish_part(const OperationPtr& op) {
  if (op->parts.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (std::holds_alternative<core::ClaimRequest>(op->request)) {
      end_claim(op);
    } else if (std::holds_alternative<core::RemoveRequest>(op->request)) {
      go_on_removing(op);
    } else if (std::holds_alternative<core::GetRequest>(op->request)) {
      end_get(op);
    } else {
      complete(op);
    }
  }
}

void Front::complete(const OperationPtr& op) {
  if (op->is_waited_for()) {
    op->ended.post();
  } else if (core::on_lent_thread()) {
    // The thread waits for its own answer only, and runs no other caller's callback.
    answers_.post([this, op] { complete_here(*op); });
  } else {
    complete_here(*op);
  }
}

void Front::complete_here(Operation& op) {
  finish_reply(op);
  run_completion(op);
}

void Front::finish_reply(Operation& op) {
  if (op.error) return tell_partly_done(op, shards());
  const core::EngineThreadScope scope;
  if (!op.figures.empty()) merge_stats(op);
  if (!op.error) tell_watches(op.reply);
}

void Front::run_completion(Operation& op) noexcept {
  const core::EngineThreadScope scope;
  core::Completion completion = std::move(op.completion);
  TARRY_ASSERT(static_cast<bool>(completion));  // runs exactly once
  op.completion = nullptr;
  if (op.error) {
    completion(Result<core::Reply>(*std::move(op.error)));
  } else {
    completion(Result<core::Reply>(std::move(op.reply)));
  }
}

void Front::merge_stats(Operation& op) {
  auto& reply = std::get<StoreStats>(op.reply);
  std::map<std::string, QueueStats> queues;
  base::Histogram lateness;
  for (ShardFigures& shard : op.figures) {
    for (QueueStats& stats : shard.queues) {
      const auto found = queues.find(stats.queue);
      if (found == queues.end()) {
        std::string name = stats.queue;
        queues.emplace(std::move(name), std::move(stats));
      } else {
        add(found->second, stats);
      }
    }
    if (shard.lateness) lateness.merge(*shard.lateness);
    reply.disk_bytes += shard.disk_bytes;
    reply.live_bytes += shard.live_bytes;
    reply.syncs += shard.syncs;
  }
  reply.engine = "embedded";
  reply.durable = config_.durable;
  for (auto& [name, stats] : queues) reply.queues.push_back(std::move(stats));
  reply.lateness = {lateness.count(), static_cast<double>(lateness.percentile(50)),
                    static_cast<double>(lateness.percentile(99)),
                    static_cast<double>(lateness.percentile(99.9)),
                    static_cast<double>(lateness.max())};
  const auto& asked = std::get<core::StatsRequest>(op.request);
  if (!asked.queue.empty() && reply.queues.empty()) {
    op.error = Error{ErrorCode::not_found, "there is no queue " + asked.queue};
  }
}

// -- claims

void Front::claim_visited(const OperationPtr& op, std::uint32_t shard) {
  // (Where nothing of the rest checks, the claim ends empty, though it might have waited.)
  if (op->rest || op->phase.load(std::memory_order_acquire) == ClaimPhase::taken) {
    end_claim(op);
    return;
  }
  ++op->shards_visited;
  const auto& request = std::get<core::ClaimRequest>(op->request);
  const auto& reply = std::get<core::ClaimReply>(op->reply);
  if (op->abandoned.load(std::memory_order_acquire)) {
    end_claim(op);
    return;
  }
  if (reply.items.size() < request.max && op->shards_visited < shards()) {
    Part part;
    part.op = op;
    if (runners_[(shard + 1) % shards()]->post(part)) return;
    if (reply.items.empty()) op->fail(closed_error());
    end_claim(op);
    return;
  }
  if (reply.items.empty() && request.wait.count() > 0) {
    begin_waiting(op);
    return;
  }
  end_claim(op);
}

void Front::begin_waiting(const OperationPtr& op) {
  const auto& request = std::get<core::ClaimRequest>(op->request);
  if (auto error = waiting_.begin(request)) {
    op->fail(std::move(*error));
    end_claim(op);
    return;
  }
  op->wait_until_boot_ms =
      config_.clock->now().boottime_ms + request.wait.count() + config_.clock->rounding_ms();
  op->waited = true;
  op->phase.store(ClaimPhase::waiting);
  if (op->abandoned.load()) {
    if (op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) end_claim(op);
    return;
  }
  bool posted = false;
  for (auto& runner : runners_) {
    Part part;
    part.kind = Part::Kind::wait;
    part.op = op;
    posted = runner->post(part) || posted;
  }
  if (!posted && op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) {
    op->fail(closed_error());
    end_claim(op);
  }
}

void Front::forget_waiting(const OperationPtr& op) {
  for (std::uint32_t shard = 0; shard < shards(); ++shard) {
    Part part;
    part.kind = Part::Kind::forget;
    part.op = op;
    post(shard, std::move(part));
  }
}

void Front::end_claim(const OperationPtr& op) {
  op->phase.store(ClaimPhase::ended, std::memory_order_release);
  if (op->ticket != 0) {
    const std::scoped_lock lock(tickets_mutex_);
    tickets_.erase(op->ticket);
  }
  if (op->waited) {
    waiting_.end(std::get<core::ClaimRequest>(op->request));
    // The shard that served it has forgotten it already; the others have not.
    if (shards() > 1) forget_waiting(op);
  }
  auto& reply = std::get<core::ClaimReply>(op->reply);
  if (!op->error && op->abandoned.load(std::memory_order_acquire)) {
    release(reply);
    reply = core::ClaimReply();
  }
  // One shard failed and others did not: the leased messages are handed over, and the next claim
  // gets the error.
  if (!reply.items.empty() || op->rest) op->error.reset();
  complete(op);
}

void Front::release(const core::ClaimReply& reply) {
  if (reply.items.empty()) return;
  // If the store is closing, the leases run out instead.
  submit(core::release_of(reply), [](Result<core::Reply>) {});
}

void Front::withdraw(core::Ticket ticket) {
  const Use use(*this);
  OperationPtr op;
  {
    const std::scoped_lock lock(tickets_mutex_);
    const auto found = tickets_.find(ticket);
    if (found == tickets_.end()) return;
    op = found->second.lock();
  }
  if (!op) return;
  op->abandoned.store(true);
  if (!op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) return;
  forget_waiting(op);
  answers_.post([this, op] { end_claim(op); });
}

// -- lists

void Front::list_visited(const OperationPtr& op, std::uint32_t shard, Handle cursor,
                         bool exhausted) {
  const auto& request = std::get<core::ListRequest>(op->request);
  auto& reply = std::get<core::ListReply>(op->reply);
  if (exhausted) {
    ++shard;
    cursor = 0;
  }
  if (shard < shards()) {
    if (reply.messages.size() < request.limit && reply.bytes < config_.limits.max_reply) {
      Part part;
      part.op = op;
      part.cursor = cursor;
      send(shard, std::move(part));
      return;
    }
    reply.next = std::to_string(shard) + "." + std::to_string(cursor);
  }
  finish_part(op);
}

void Front::send(std::uint32_t shard, Part part) {
  if (!runners_[shard]->post(part)) refuse_part(part);
}

void Front::refuse_part(const Part& part) {
  fail_part(part, closed_error());
  finish_later(part.op);
}

void Front::close() {
  closed_.store(true);
  const std::scoped_lock lock(close_mutex_);
  for (auto& runner : runners_) runner->stop();
  answers_.retire();
  for (std::uint32_t users = users_.load(); users > 0; users = users_.load()) users_.wait(users);
  for (auto& runner : runners_) runner->let_go();
  lock_.reset();
  directory_.reset();
}

}  // namespace tarry::embedded
