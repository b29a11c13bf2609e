#include "worker/queue_run.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "base/threads/boot_clock.h"
#include "base/threads/thread.h"

namespace tarry::worker {

QueueRun::QueueRun(core::Engine& engine, const std::string& queue, const WorkerOptions& options,
                   const Handler& handler, Counters& counters, Turns& turns)
    : engine_(engine),
      queue_(queue),
      options_(options),
      handler_(handler),
      counters_(counters),
      turns_(turns),
      book_({options.lease, options.drain, engine.capabilities().joins}) {}

Result<void> QueueRun::run(std::stop_token stop) {
  std::vector<std::jthread> threads;
  threads.reserve(std::size_t{options_.concurrency} + 1);
  std::optional<Error> no_threads;
  try {
    threads.push_back(base::start_jthread("tarry-tell", [this] { tell(); }));
    for (std::uint32_t i = 0; i < options_.concurrency; ++i) {
      threads.push_back(base::start_jthread({"tarry-worker", i}, [this] { work(); }));
    }
  } catch (const std::system_error& failure) {
    no_threads =
        Error{ErrorCode::unavailable,
              "the system gave " + std::to_string(threads.size()) + " threads of " +
                  std::to_string(std::size_t{options_.concurrency} + 1) + ": " + failure.what()};
  }
  {
    const auto stop_now = [this] {
      const std::lock_guard lock(mutex_);
      stop_for({});
    };
    const std::stop_callback on_stop(std::move(stop), stop_now);
    Lock lock(mutex_);
    if (no_threads) stop_for(std::move(no_threads));
    control(lock);
    finished_ = true;
    work_arrived_.notify_all();
    tell_wanted_.notify_one();
  }
  threads.clear();
  if (book_.error()) return *book_.error();
  return {};
}

// -- the controller

void QueueRun::control(Lock& lock) {
  for (;;) {
    const Moment now = leases::moment_now();
    look_for_lapsed(now);
    if (drain(lock, now) || (book_.joins(now) && claim(lock, now)) || settle(lock, now) ||
        extend(lock, now) || claim(lock, now)) {
      continue;
    }
    if (stopping_ && book_.is_idle()) return;
    wait_for_news(lock);
  }
}

std::optional<QueueRun::Moment> QueueRun::next_moment() const {
  std::optional<Moment> next = book_.next();
  const auto consider = [&next](Moment moment) { next = std::min(next.value_or(moment), moment); };
  if (wants_claim()) consider(book_.claim_at());
  if (book_.lapse_at()) consider(*book_.lapse_at());
  return next;
}

void QueueRun::wait_for_news(Lock& lock) {
  const auto arrived = [this] { return news_; };
  if (const std::optional<Moment> until = next_moment()) {
    news_arrived_.wait_until(lock, base::BootClock::time_point(*until), arrived);
  } else {
    news_arrived_.wait(lock, arrived);
  }
  news_ = false;
}

std::size_t QueueRun::room() const noexcept {
  const std::size_t most = std::size_t{options_.concurrency} + options_.prefetch;
  return most - std::min(most, jobs_.size());
}

bool QueueRun::wants_claim() const noexcept { return book_.may_claim() && room() > 0; }

core::Ticket QueueRun::submit(Lock& lock, core::Request request,
                              void (QueueRun::*answered)(Result<core::Reply>)) {
  lock.unlock();
  const core::Ticket ticket = engine_.submit(
      std::move(request),
      [this, answered](Result<core::Reply> reply) { (this->*answered)(std::move(reply)); });
  lock.lock();
  return ticket;
}

bool QueueRun::claim(Lock& lock, Moment now) {
  if (!wants_claim()) return false;
  auto request = book_.claim(static_cast<std::uint32_t>(room()), now);
  if (!request) return false;
  request->queues = {queue_};
  pass_on();
  claim_ticket_ = submit(lock, *std::move(request), &QueueRun::on_claimed);
  return true;
}

bool QueueRun::settle(Lock& lock, Moment now) {
  auto request = book_.settle(now);
  pass_on();
  if (!request) return false;
  submit(lock, *std::move(request), &QueueRun::on_settled);
  return true;
}

bool QueueRun::extend(Lock& lock, Moment now) {
  auto request = book_.extend(now);
  if (!request) return false;
  submit(lock, *std::move(request), &QueueRun::on_extended);
  return true;
}

bool QueueRun::drain(Lock& lock, Moment now) {
  if (!stopping_) return false;
  for (const JobId id : waiting_) {
    book_.end(id, {.action = core::SettleAction::release}, now);
    jobs_.erase(id);
  }
  counters_.waiting -= waiting_.size();
  waiting_.clear();
  if (!book_.withdraw()) return false;
  lock.unlock();
  engine_.withdraw(claim_ticket_);
  lock.lock();
  return true;
}

// Marks jobs whose lease has ended by this machine's clock, even if the store has not said so yet:
// from now on another delivery of their messages may begin.
void QueueRun::look_for_lapsed(Moment now) {
  for (const JobId id : book_.lapsed(now)) {
    Job& job = jobs_.at(id);
    if (job.begun && !std::exchange(job.over, true)) want_signals();
  }
}

// -- what users are told

void QueueRun::tell() {
  Lock lock(mutex_);
  for (;;) {
    std::vector<base::UniqueFunction<void()>> calls = take_calls();
    if (calls.empty() && finished_) return;
    if (calls.empty()) {
      tell_wanted_.wait(lock);
      continue;
    }
    lock.unlock();
    for (auto& call : calls) call();
    lock.lock();
  }
}

void QueueRun::want_signals() {
  signal_wanted_ = true;
  tell_wanted_.notify_one();
}

std::vector<base::UniqueFunction<void()>> QueueRun::take_calls() {
  std::vector<base::UniqueFunction<void()>> calls;
  const bool signals = std::exchange(signal_wanted_, false);
  for (auto job = jobs_.begin(); signals && job != jobs_.end(); ++job) {
    auto& [id, one] = *job;
    if (one.begun && (stopping_ || one.over) && !std::exchange(one.signalled, true)) {
      calls.emplace_back([stop = one.stop]() mutable { stop.request_stop(); });
    }
  }
  for (auto& outage : std::exchange(outages_, {})) {
    calls.emplace_back([this, outage = std::move(outage)] { options_.on_outage(outage); });
  }
  if (auto refusal = std::exchange(refusal_, {})) {
    calls.emplace_back([this, refusal = *std::move(refusal)] { options_.on_refusal(refusal); });
  }
  return calls;
}

}  // namespace tarry::worker
