#include "engines/embedded/front/front.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "core/claimed.h"
#include "core/engine_parts/settle_first.h"
#include "core/rules/validation.h"
#include "engines/embedded/front/stats_sum.h"
#include "engines/embedded/shard/requests/part_failure.h"

namespace tarry::embedded {
Front::Front(Config config)
    : config_(std::move(config)),
      shards_(*this, answers_),
      removals_(shards_),
      orders_(config_.identity, config_.gates->homes(), shards_),
      split_(config_.identity, config_.limits, config_.gates->homes(), shards_, removals_, orders_),
      waiting_(config_.limits) {}

Front::~Front() { close(); }

void Front::start(std::vector<ShardParts> shards, std::unique_ptr<storage::Directory> directory,
                  std::unique_ptr<storage::Lock> lock) {
  directory_ = std::move(directory);
  lock_ = std::move(lock);
  const std::vector<std::string> half_removed = freeze_half_removed(shards);
  shards_.start(std::move(shards), config_.clock);
  for (const std::string& queue : half_removed) {
    log({LogLevel::info, "removal_resumed",
         "queue " + queue + ": its removal was cut short; finishing it"});
    submit(core::RemoveRequest{queue, true}, [](Result<core::Reply>) {});
  }
}

void Front::log(const LogEntry& entry) {
  if (config_.log) config_.log(entry);
}

core::Capabilities Front::capabilities() const {
  core::Capabilities capabilities;
  capabilities.engine = "embedded";
  capabilities.forecast = true;
  capabilities.push_times = config_.identity.version >= kPushTimeVersion;
  capabilities.expiry = config_.identity.version >= kExpiryVersion;
  capabilities.limits = config_.identity.version >= kLimitsVersion;
  capabilities.groups = capabilities.limits;
  capabilities.durable = config_.durable;
  capabilities.manual_clock = config_.clock->rounding_ms() == 0;
  return capabilities;
}

core::Ticket Front::submit(core::Request request, core::Completion completion) {
  if (core::spreads(request)) {
    const auto now = [this]() -> core::SpreadTime {
      const auto read = config_.clock->now();
      return {read.realtime_ms, read.boottime_ms};
    };
    return core::submit_spread(calendars_, true, std::move(request), std::move(completion), now,
                               [this](core::Request part, core::Completion done) {
                                 return pass_on(std::move(part), std::move(done));
                               });
  }
  return pass_on(std::move(request), std::move(completion));
}

core::Ticket Front::pass_on(core::Request request, core::Completion completion) {
  if (core::settles_first(request)) {
    return core::submit_settle_first(std::move(request), std::move(completion),
                                     [this](core::Request part, core::Completion done) {
                                       return submit(std::move(part), std::move(done));
                                     });
  }
  const Use use(*this);
  const OperationPtr op =
      make(std::move(request), std::move(completion), Operation::Completes::engine);
  if (!op) return 0;
  begin(op);
  return op->ticket;
}

core::Ticket Front::submit_lending(core::Request request, core::Completion completion,
                                   core::Lent& lent) {
  if (core::spreads(request)) return submit(std::move(request), std::move(completion));
  if (core::settles_first(request)) {
    return core::submit_settle_first(std::move(request), std::move(completion),
                                     [this, &lent](core::Request part, core::Completion done) {
                                       return submit_lending(std::move(part), std::move(done),
                                                             lent);
                                     });
  }
  const Use use(*this);
  const OperationPtr op =
      make(std::move(request), std::move(completion), Operation::Completes::engine);
  if (!op) return 0;
  op->lend_here(lent);
  op->completes_on = std::this_thread::get_id();
  begin(op);
  return op->ticket;
}

void Front::lend(core::Lent& lent) noexcept {
  const Use use(*this);
  // The shards' own threads carry out what was posted before the end.
  if (closed_.load()) return static_cast<void>(lent.reset());
  shards_.lend(lent, ShardRunner::Patience::never_waits);
}

// The thread that waits for a claim also reads its messages and completes the operation. Otherwise
// another thread would have to do this before it can wake the waiter, and the data would move from
// one core's cache to the other's.
void Front::submit_waiting(core::Request request, core::Completion completion) {
  if (core::spreads(request)) {
    static_cast<void>(submit(std::move(request), std::move(completion)));
    return;
  }
  if (core::settles_first(request)) {
    core::submit_settle_first(std::move(request), std::move(completion),
                              [this](core::Request part, core::Completion done) -> core::Ticket {
                                if (!std::holds_alternative<core::ClaimRequest>(part)) {
                                  return submit(std::move(part), std::move(done));
                                }
                                submit_waiting(std::move(part), std::move(done));
                                return 0;
                              });
    return;
  }
  const Use use(*this);
  const OperationPtr op =
      make(std::move(request), std::move(completion), Operation::Completes::waiter);
  if (!op) return;
  core::Lent lent;
  if (config_.lends) op->lend_here(lent);
  begin(op);
  shards_.lend(lent, ShardRunner::Patience::waits);
  op->end_lending();  // `lent` ends with this call
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

OperationPtr Front::make(core::Request request, core::Completion completion,
                         Operation::Completes completes) {
  if (closed_.load()) {
    refuse(std::move(completion), closed_error());
    return nullptr;
  }
  if (auto error = core::check_request(request)) {
    refuse(std::move(completion), std::move(*error));
    return nullptr;
  }
  return std::make_shared<Operation>(std::move(request), std::move(completion), completes);
}

void Front::begin(const OperationPtr& op) {
  // Nobody can withdraw a claim whose caller is blocked in it.
  if (const auto* claim = std::get_if<core::ClaimRequest>(&op->request);
      claim != nullptr && claim->wait.count() > 0 && !op->is_waited_for()) {
    tickets_.give(op);
  }
  try {
    split_.dispatch(op);
  } catch (...) {  // no memory: no shard has heard of the request
    tickets_.take_back(*op);
    throw;
  }
}

void Front::post(std::uint32_t shard, Part part) { (void)shards_.post(shard, std::move(part)); }

// -- ends

void Front::refuse(core::Completion completion, Error error) {
  answers_.post([completion = std::move(completion), error = std::move(error)]() mutable {
    completion(std::move(error));
  });
}

void Front::finish_part(const OperationPtr& op) {
  if (op->parts.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (std::holds_alternative<core::ClaimRequest>(op->request)) {
      end_claim(op);
    } else if (std::holds_alternative<core::RemoveRequest>(op->request)) {
      if (removals_.go_on(op)) complete(op);
    } else if (op->order_step != OrderStep::none) {
      if (orders_.go_on(op)) complete(op);
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
  } else if (core::on_lent_thread() && !op->may_complete_here()) {
    // The thread runs no other caller's callback.
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
  if (op.error) return tell_partly_done(op, shards_.size());
  const core::EngineThreadScope scope;
  if (!op.figures.empty()) sum_figures(op, config_.durable);
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

// A shard that has none of a queue's keys does not know the queue; if the asked shards do not know
// it, another one may.
void Front::end_get(const OperationPtr& op) {
  const auto is_absent = [](const Result<MessageInfo>& item) {
    return !item && item.error().code == ErrorCode::not_found;
  };
  auto& items = std::get<core::GetReply>(op->reply).items;
  if (op->error || op->found || std::ranges::none_of(items, is_absent)) return complete(op);
  if (shards_.size() > 1 && !std::exchange(op->asks_for_queue, true)) {
    try {
      return shards_.send_to_all(op);
    } catch (const std::bad_alloc&) {  // no shard has seen it, so this error is true
      return complete(op);
    }
  }
  const auto& request = std::get<core::GetRequest>(op->request);
  for (auto& item : items) {
    if (is_absent(item)) item = Error{ErrorCode::not_found, "there is no queue " + request.queue};
  }
  complete(op);
}

// -- claims

void Front::claim_visited(const OperationPtr& op, std::uint32_t shard) {
  // `rest` may turn out to hold no intact message. Then the claim ends empty, though it could have
  // waited.
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
  if (reply.items.size() < request.max && op->shards_visited < shards_.size()) {
    Part part;
    part.op = op;
    if (shards_.post((shard + 1) % shards_.size(), std::move(part))) return;
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
  for (std::uint32_t shard = 0; shard < shards_.size(); ++shard) {
    Part part;
    part.kind = Part::Kind::wait;
    part.op = op;
    posted = shards_.post(shard, std::move(part)) || posted;
  }
  op->end_lending();
  if (!posted && op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) {
    op->fail(closed_error());
    end_claim(op);
  }
}

void Front::forget_waiting(const OperationPtr& op) {
  for (std::uint32_t shard = 0; shard < shards_.size(); ++shard) {
    Part part;
    part.kind = Part::Kind::forget;
    part.op = op;
    post(shard, std::move(part));
  }
}

void Front::end_claim(const OperationPtr& op) {
  op->phase.store(ClaimPhase::ended, std::memory_order_release);
  tickets_.take_back(*op);
  if (op->waited) {
    waiting_.end(std::get<core::ClaimRequest>(op->request));
    // The shard that served the claim has forgotten it already; the others have not.
    if (shards_.size() > 1) forget_waiting(op);
  }
  auto& reply = std::get<core::ClaimReply>(op->reply);
  if (!op->error && op->abandoned.load(std::memory_order_acquire)) {
    release(reply);
    reply = core::ClaimReply();
  }
  // If one shard failed and others did not, the leased messages are handed over, and the next claim
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
  const OperationPtr op = tickets_.find(ticket);
  if (!op) return;
  op->abandoned.store(true);
  op->end_lending();
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
  if (shard < shards_.size()) {
    if (reply.messages.size() < request.limit && reply.bytes < config_.limits.max_reply) {
      Part part;
      part.op = op;
      part.cursor = cursor;
      shards_.send(shard, std::move(part));
      return;
    }
    reply.next = std::to_string(shard) + "." + std::to_string(cursor);
  }
  finish_part(op);
}

void Front::close() {
  closed_.store(true);
  const std::scoped_lock lock(close_mutex_);
  shards_.stop();
  answers_.retire();
  for (std::uint32_t users = users_.load(); users > 0; users = users_.load()) users_.wait(users);
  shards_.let_go();
  lock_.reset();
  directory_.reset();
}

}  // namespace tarry::embedded
