#include "worker/session.h"

#include <algorithm>
#include <system_error>

#include "base/thread.h"

namespace tarry::worker {
namespace {

/// Long, because waiting costs nothing; not endless, so that a connection which died unnoticed
/// does not keep a worker idle for ever.
constexpr Millis kClaimWait{20'000};
constexpr std::size_t kSettleBatch = 1'000;
/// Verdicts that the store has not taken yet; claiming rests while there are more.
constexpr std::size_t kMaxOutbox = 10'000;
constexpr std::chrono::seconds kDrainPatience{10};

}  // namespace

Session::Session(core::Engine& engine, const std::string& queue, const WorkerOptions& options,
                 const Handler& handler, Counters& counters, Turns& turns)
    : engine_(engine),
      queue_(queue),
      options_(options),
      handler_(handler),
      counters_(counters),
      turns_(turns) {}

Result<void> Session::run(std::stop_token stop) {
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
  if (error_) return *std::move(error_);
  return {};
}

// -- the controller

void Session::control(Lock& lock) {
  for (;;) {
    const Moment now = Clock::now();
    look_for_lapsed(now);
    // Each step lets go of the lock, and what the ones before it looked at may have changed.
    if (drain(lock, now) || settle(lock, now) || extend(lock, now) || claim(lock, now)) continue;
    if (is_done()) return;
    wait_for_news(lock);
  }
}

bool Session::is_done() const noexcept {
  return stopping_ && !claiming_ && !settling_ && !extending_ && jobs_.empty() && outbox_.empty();
}

std::optional<Session::Moment> Session::next_moment() const {
  std::optional<Moment> next;
  const auto consider = [&next](Moment moment) { next = next ? std::min(*next, moment) : moment; };
  if (wants_claim()) consider(claim_at_);
  if (!settling_ && !outbox_.empty()) consider(settle_at_);
  if (!extending_ && extend_at_) consider(*extend_at_);
  if (lapse_at_) consider(*lapse_at_);
  return next;
}

void Session::wait_for_news(Lock& lock) {
  const auto arrived = [this] { return news_; };
  if (const std::optional<Moment> until = next_moment()) {
    news_arrived_.wait_until(lock, *until, arrived);
  } else {
    news_arrived_.wait(lock, arrived);
  }
  news_ = false;
}

std::size_t Session::room() const noexcept {
  const std::size_t most = std::size_t{options_.concurrency} + options_.prefetch;
  return most - std::min(most, jobs_.size());
}

bool Session::wants_claim() const noexcept {
  return !stopping_ && !claiming_ && room() > 0 && outbox_.size() < kMaxOutbox;
}

bool Session::claim(Lock& lock, Moment now) {
  if (!wants_claim() || now < claim_at_) return false;
  core::ClaimRequest request;
  request.queues = {queue_};
  request.max = static_cast<std::uint32_t>(room());
  request.lease = options_.lease;
  request.wait = kClaimWait;
  claiming_ = true;
  withdrawn_ = false;
  lock.unlock();
  claim_ticket_ = engine_.submit(
      std::move(request), [this](Result<core::Reply> reply) { on_claimed(std::move(reply)); });
  lock.lock();
  return true;
}

bool Session::settle(Lock& lock, Moment now) {
  if (settling_ || outbox_.empty() || now < settle_at_) return false;
  const bool patient = !stopped_at_ || now < *stopped_at_ + kDrainPatience;
  std::vector<Verdicted> sent;
  core::SettleRequest request;
  while (!outbox_.empty() && sent.size() < kSettleBatch) {
    Verdicted verdicted = std::move(outbox_.front());
    outbox_.pop_front();
    if (verdicted.tried && (now >= verdicted.lease_end || !patient)) {
      ++counters_.stale;
      continue;
    }
    core::SettleItem& item = request.items.emplace_back();
    item.receipt = core::append(request.bytes, verdicted.delivery.receipt());
    item.action = verdicted.settlement.action;
    item.delay = verdicted.settlement.delay;
    item.reason = core::append(request.bytes, verdicted.settlement.reason);
    verdicted.tried = true;
    sent.push_back(std::move(verdicted));
  }
  if (sent.empty()) return true;
  settling_ = true;
  lock.unlock();
  engine_.submit(std::move(request),
                 [this, sent = std::move(sent)](Result<core::Reply> reply) mutable {
                   on_settled(std::move(sent), std::move(reply));
                 });
  lock.lock();
  return true;
}

bool Session::extend(Lock& lock, Moment now) {
  if (extending_ || !extend_at_ || now < *extend_at_) return false;
  extend_at_.reset();
  if (!holds_on(now)) return false;
  core::ExtendRequest request;
  std::vector<JobId> sent;
  for (const auto& [id, job] : jobs_) {
    if (!job.extendable) continue;
    if (now < job.extend_at) {
      wake_to_extend(job.extend_at);
      continue;
    }
    sent.push_back(id);
    request.items.push_back(
        {core::append(request.bytes, job.delivery.receipt()), job.delivery.lease()});
  }
  if (sent.empty()) return false;
  extending_ = true;
  lock.unlock();
  engine_.submit(std::move(request),
                 [this, sent = std::move(sent), now](Result<core::Reply> reply) {
                   on_extended(sent, now, std::move(reply));
                 });
  lock.lock();
  return true;
}

bool Session::holds_on(Moment now) const noexcept {
  return !stopped_at_ || !options_.drain || now - *stopped_at_ < *options_.drain;
}

bool Session::drain(Lock& lock, Moment now) {
  if (!stopping_) return false;
  if (!stopped_at_) stopped_at_ = now;
  for (const JobId id : waiting_) {
    const auto job = jobs_.find(id);
    outbox_.push_back({std::move(job->second.delivery),
                       Settlement{core::SettleAction::release, {}, {}}, job->second.lease_end});
    jobs_.erase(job);
  }
  counters_.waiting -= waiting_.size();
  waiting_.clear();
  if (!claiming_ || withdrawn_) return false;
  withdrawn_ = true;
  lock.unlock();
  engine_.withdraw(claim_ticket_);
  lock.lock();
  return true;
}

// Whatever the store has to say of it yet: from now on another delivery may begin.
void Session::look_for_lapsed(Moment now) {
  if (!lapse_at_ || now < *lapse_at_) return;
  lapse_at_.reset();
  for (auto& [id, job] : jobs_) {
    if (job.lease_end > now) {
      wake_at_end_of(job);
    } else if (job.begun && !std::exchange(job.lapsed, true)) {
      want_signals();
    }
  }
}

// -- what users are told

void Session::tell() {
  Lock lock(mutex_);
  for (;;) {
    if (signal_handlers(lock) || tell_of_outage(lock) || tell_of_refusal(lock)) continue;
    if (finished_) return;
    tell_wanted_.wait(lock);
  }
}

void Session::want_signals() {
  signal_wanted_ = true;
  tell_wanted_.notify_one();
}

bool Session::signal_handlers(Lock& lock) {
  if (!std::exchange(signal_wanted_, false)) return false;
  std::vector<std::stop_source> sources;
  for (auto& [id, job] : jobs_) {
    if (job.begun && (stopping_ || job.lost || job.lapsed) && !std::exchange(job.signalled, true)) {
      sources.push_back(job.stop);
    }
  }
  lock.unlock();
  for (std::stop_source& source : sources) source.request_stop();
  lock.lock();
  return true;
}

bool Session::tell_of_outage(Lock& lock) {
  if (outages_.empty()) return false;
  const std::optional<Error> outage = std::move(outages_.front());
  outages_.pop_front();
  lock.unlock();
  options_.on_outage(outage);
  lock.lock();
  return true;
}

bool Session::tell_of_refusal(Lock& lock) {
  if (!refusal_) return false;
  const Error refusal = *std::exchange(refusal_, {});
  lock.unlock();
  options_.on_refusal(refusal);
  lock.lock();
  return true;
}

}  // namespace tarry::worker
