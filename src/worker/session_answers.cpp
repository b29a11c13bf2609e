// Session: what the engine's answers and the handlers' verdicts change. The controller's side is
// in session.cpp.
#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "worker/session.h"

namespace tarry::worker {
namespace {

constexpr Millis kLeastPause{1};
constexpr Millis kMostPause{1'000};

bool is_transient(const Error& error) noexcept {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::unknown_outcome ||
         error.code == ErrorCode::no_space;
}

/// What an engine that comes up short has said of the rest.
core::ItemResult unknown_item() {
  core::ItemResult item;
  item.error = Error{ErrorCode::unknown_outcome, "the store did not answer for this item"};
  return item;
}

template <typename R>
R take(Result<core::Reply>& reply) {
  R* kind = std::get_if<R>(&*reply);
  TARRY_ASSERT(kind != nullptr);
  return std::move(*kind);
}

}  // namespace

// -- completions

void Session::on_claimed(Result<core::Reply> reply) {
  const std::lock_guard lock(mutex_);
  claiming_ = false;
  const Moment now = Clock::now();
  if (reply) {
    claim_backoff_.reset();
    note_outage({});
    const auto claimed = std::make_shared<const core::ClaimReply>(take<core::ClaimReply>(reply));
    const Moment begun = std::min(now, claimed->begun_at.value_or(now));
    for (std::size_t i = 0; i < claimed->items.size(); ++i) {
      accept(Delivery(claimed, i), begun, now);
    }
  } else if (may_try_again(reply.error())) {
    claim_at_ = now + claim_backoff_.next();
    note_outage(std::move(reply).error());
  }
  news();
}

void Session::on_settled(std::vector<Verdicted> sent, Result<core::Reply> reply) {
  const std::lock_guard lock(mutex_);
  settling_ = false;
  if (reply) {
    settle_backoff_.reset();
    const auto answers = take<core::ItemsReply>(reply);
    const core::ItemResult unknown = unknown_item();
    for (std::size_t i = 0; i < sent.size(); ++i) {
      settle_item(std::move(sent[i]), i < answers.items.size() ? answers.items[i] : unknown);
    }
  } else if (may_try_again(reply.error())) {
    outbox_.insert(outbox_.begin(), std::make_move_iterator(sent.begin()),
                   std::make_move_iterator(sent.end()));
    try_settling_later(Clock::now());
  } else {
    counters_.stale += sent.size();
  }
  news();
}

void Session::settle_item(Verdicted sent, const core::ItemResult& answer) {
  if (answer.error && is_transient(*answer.error)) {
    outbox_.push_back(std::move(sent));
    try_settling_later(Clock::now());
    return;
  }
  if (answer.error || answer.outcome != Outcome::done) {
    ++counters_.stale;
    if (answer.error) note_refusal(*answer.error);
    return;
  }
  switch (sent.settlement.action) {
    case core::SettleAction::ack: ++counters_.acked; break;
    case core::SettleAction::retry: ++counters_.retried; break;
    case core::SettleAction::bury: ++counters_.buried; break;
    case core::SettleAction::release:
    case core::SettleAction::move_away: ++counters_.released; break;
  }
}

void Session::try_settling_later(Moment now) {
  // Once a batch, not once an item of it.
  if (settle_at_ <= now) settle_at_ = now + settle_backoff_.next();
}

void Session::on_extended(const std::vector<JobId>& sent, Moment sent_at,
                          Result<core::Reply> reply) {
  const std::lock_guard lock(mutex_);
  extending_ = false;
  core::ItemsReply answers;
  core::ItemResult unknown = unknown_item();
  if (reply) {
    answers = take<core::ItemsReply>(reply);
  } else if (!may_try_again(reply.error())) {
    unknown.error = reply.error();
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto job = jobs_.find(sent[i]);
    // Its verdict came first; the answer, whatever it is, is about a claim that has ended.
    if (job == jobs_.end()) continue;
    extended(job->second, sent_at, i < answers.items.size() ? answers.items[i] : unknown);
    if (job->second.lost && !job->second.begun) {
      counters_.waiting -= std::erase(waiting_, job->first);
      jobs_.erase(job);
      ++counters_.stale;
    }
  }
  news();
}

void Session::extended(Job& job, Moment sent_at, const core::ItemResult& answer) {
  const Millis lease = job.delivery.lease();
  if (answer.error && is_transient(*answer.error)) {
    // Often enough to get through before the lease runs out, if the store comes back at all.
    job.extend_at = Clock::now() + std::clamp(lease / 10, kLeastPause, kMostPause);
  } else if (!answer.error && answer.outcome == Outcome::done) {
    job.lease_end = sent_at + lease;
    wake_at_end_of(job);
    job.extend_at = sent_at + std::max(lease / 3, kLeastPause);
  } else {
    // Refused is not lost: the claim holds as long as it was granted, and its verdict may yet do.
    job.extendable = false;
    job.lost = !answer.error;
    if (job.lost) ++counters_.run_out;
    if (job.lost) want_signals();
    return;
  }
  wake_to_extend(job.extend_at);
}

void Session::note_outage(std::optional<Error> outage) {
  if (outage.has_value() == is_away_) return;
  is_away_ = outage.has_value();
  if (!options_.on_outage) return;
  if (outages_.size() < 2) {
    outages_.push_back(std::move(outage));
  } else {
    outages_.pop_back();  // what came and went while nobody listened
  }
  tell_wanted_.notify_one();
}

void Session::note_refusal(const Error& refusal) {
  ++counters_.refused;
  if (!options_.on_refusal) return;
  refusal_ = refusal;
  tell_wanted_.notify_one();
}

void Session::wake_to_extend(Moment moment) {
  extend_at_ = extend_at_ ? std::min(*extend_at_, moment) : moment;
}

void Session::wake_at_end_of(const Job& job) {
  lapse_at_ = lapse_at_ ? std::min(*lapse_at_, job.lease_end) : job.lease_end;
}

// -- jobs

void Session::accept(Delivery delivery, Moment begun, Moment now) {
  const Moment lease_end = begun + delivery.lease();
  if (lease_end <= now) {
    // The answer was under way for so long that another may have it by now.
    counters_.claimed(delivery.lateness());
    outbox_.push_back({std::move(delivery), {core::SettleAction::release, {}, {}}, lease_end});
    return;
  }
  const JobId id = next_job_++;
  Job& job = jobs_.emplace(id, Job(std::move(delivery))).first->second;
  job.lease_end = lease_end;
  wake_at_end_of(job);
  job.extend_at = begun + std::max(job.delivery.lease() / 3, kLeastPause);
  wake_to_extend(job.extend_at);
  counters_.claimed(job.delivery.lateness());
  ++counters_.waiting;
  waiting_.push_back(id);
  work_arrived_.notify_one();
}

void Session::work() {
  Lock lock(mutex_);
  for (;;) {
    work_arrived_.wait(lock, [this] { return finished_ || (!stopping_ && !waiting_.empty()); });
    if (finished_) return;
    lock.unlock();
    const bool my_turn = turns_.take(stopping_);
    lock.lock();
    if (!my_turn) continue;
    // While it waited the worker may have stopped, or the lease may have run out.
    if (!stopping_ && !waiting_.empty()) {
      const JobId id = waiting_.front();
      waiting_.pop_front();
      if (Clock::now() < jobs_.at(id).lease_end) {
        work_on(lock, id);
      } else {
        give_back(id);
      }
    }
    turns_.give();
  }
}

// It waited longer than its lease, and the store was away meanwhile: by now it may be another's.
void Session::give_back(JobId id) {
  --counters_.waiting;
  Job& job = jobs_.at(id);
  outbox_.push_back(
      {std::move(job.delivery), {core::SettleAction::release, {}, {}}, job.lease_end});
  jobs_.erase(id);
  news();
}

void Session::work_on(Lock& lock, JobId id) {
  Job& job = jobs_.at(id);
  job.begun = true;
  --counters_.waiting;
  ++counters_.delivered;
  ++counters_.in_flight;
  lock.unlock();
  Settlement settlement = settlement_of(handle(job));
  lock.lock();
  --counters_.in_flight;
  if (job.lost) {
    ++counters_.stale;
  } else {
    outbox_.push_back({std::move(job.delivery), std::move(settlement), job.lease_end});
  }
  jobs_.erase(id);
  news();
}

Verdict Session::thrown(std::string_view what) const {
  counters_.threw(what);
  return {.action = Action::retry, .reason = "the handler threw: " + std::string(what)};
}

Verdict Session::handle(const Job& job) const {
  try {
    return handler_(job.delivery, job.stop.get_token());
  } catch (const std::exception& exception) {
    return thrown(exception.what());
  } catch (...) {
    return thrown("an exception that is no std::exception");
  }
}

// -- ends

bool Session::may_try_again(const Error& error) {
  if (is_transient(error)) return true;
  stop_for(error.code == ErrorCode::closed ? std::nullopt : std::optional<Error>(error));
  return false;
}

void Session::stop_for(std::optional<Error> error) {
  if (error && !error_) error_ = std::move(error);
  stopping_ = true;
  turns_.wake();
  want_signals();
  news();
}

void Session::news() {
  news_ = true;
  news_arrived_.notify_one();
}

}  // namespace tarry::worker
