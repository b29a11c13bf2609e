// QueueRun: how the engine's answers and the handlers' verdicts change the state. The controller's
// steps are in queue_run.cpp.
#include <exception>
#include <memory>
#include <utility>

#include "core/reply_as.h"
#include "worker/queue_run.h"
#include "worker/verdicts.h"

namespace tarry::worker {

// -- completions

void QueueRun::on_claimed(Result<core::Reply> reply) {
  const auto claimed = core::shared_claim(std::move(reply));
  const std::lock_guard lock(mutex_);
  const Moment now = leases::moment_now();
  if (const auto begun = book_.claimed(claimed, now)) {
    counters_.claimed(**claimed);
    for (std::size_t i = 0; i < (*claimed)->items.size(); ++i) {
      accept(Delivery(*claimed, i), *begun, now);
    }
  }
  news();
}

void QueueRun::on_settled(Result<core::Reply> reply) {
  const auto settled = core::reply_as<core::ItemsReply>(std::move(reply));
  const std::lock_guard lock(mutex_);
  book_.settled(settled, leases::moment_now());
  news();
}

void QueueRun::on_extended(Result<core::Reply> reply) {
  const auto extended = core::reply_as<core::ItemsReply>(std::move(reply));
  const std::lock_guard lock(mutex_);
  for (const auto& [id, end] : book_.extended(extended, leases::moment_now())) {
    if (end != leases::kLost) continue;
    Job& job = jobs_.at(id);
    if (job.begun) {
      job.over = true;
      want_signals();
    } else {
      std::erase(waiting_, id);
      give_back(id);
    }
  }
  news();
}

// -- jobs

void QueueRun::accept(Delivery delivery, Moment begun, Moment now) {
  const auto id = book_.hold(delivery.receipt(), delivery.lease(), begun, now);
  if (!id) return;
  jobs_.emplace(*id, Job(std::move(delivery)));
  ++counters_.waiting;
  waiting_.push_back(*id);
  work_arrived_.notify_one();
}

void QueueRun::work() {
  Lock lock(mutex_);
  for (;;) {
    work_arrived_.wait(lock, [this] { return finished_ || (!stopping_ && !waiting_.empty()); });
    if (finished_) return;
    lock.unlock();
    const bool my_turn = turns_.take(stopping_);
    lock.lock();
    if (!my_turn) continue;
    // While this thread waited for its turn, the worker may have stopped, or the lease may have run
    // out.
    if (!stopping_ && !waiting_.empty()) {
      const JobId id = waiting_.front();
      waiting_.pop_front();
      if (leases::moment_now() < book_.lease_end(id)) {
        work_on(lock, id);
      } else {
        give_back(id);
        news();
      }
    }
    turns_.give();
  }
}

// Releases a message whose lease ended before its handler began: by now another worker may have it.
void QueueRun::give_back(JobId id) {
  --counters_.waiting;
  jobs_.erase(id);
  book_.end(id, {.action = core::SettleAction::release}, leases::moment_now());
}

void QueueRun::work_on(Lock& lock, JobId id) {
  Job& job = jobs_.at(id);
  job.begun = true;
  --counters_.waiting;
  ++counters_.delivered;
  ++counters_.in_flight;
  lock.unlock();
  leases::Settlement settlement = settlement_of(handle(job));
  lock.lock();
  --counters_.in_flight;
  jobs_.erase(id);
  book_.end(id, std::move(settlement), leases::moment_now());
  news();
}

Verdict QueueRun::thrown(std::string_view what) const {
  counters_.threw(what);
  return {.action = Action::retry, .reason = "the handler threw: " + std::string(what)};
}

Verdict QueueRun::handle(const Job& job) const {
  try {
    return handler_(job.delivery, job.stop.get_token());
  } catch (const std::exception& exception) {
    return thrown(exception.what());
  } catch (...) {
    return thrown("an exception that is no std::exception");
  }
}

// -- ends

void QueueRun::stop_for(std::optional<Error> why) {
  book_.stop(leases::moment_now(), std::move(why));
  news();
}

void QueueRun::news() {
  pass_on();
  if (book_.stopped_at() && !stopping_.exchange(true)) {
    turns_.wake();
    want_signals();
  }
  news_ = true;
  news_arrived_.notify_one();
}

void QueueRun::pass_on() {
  counters_.ended(book_.take_counts());
  note_outage(book_.outage());
  auto refusal = book_.take_refusal();
  if (!refusal || !options_.on_refusal) return;
  refusal_ = std::move(refusal);
  tell_wanted_.notify_one();
}

void QueueRun::note_outage(std::optional<Error> outage) {
  if (outage.has_value() == is_away_) return;
  is_away_ = outage.has_value();
  if (!options_.on_outage) return;
  if (outages_.size() < 2) {
    outages_.push_back(std::move(outage));
  } else {
    outages_.pop_back();  // an outage that ended before it was reported
  }
  tell_wanted_.notify_one();
}

}  // namespace tarry::worker
