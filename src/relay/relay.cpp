#include "relay/relay.h"

#include <utility>
#include <variant>

#include "core/reply_as.h"

namespace tarry::relay {
namespace {

constexpr Millis kTellMishapsEvery{60'000};

template <typename Call>
void unlocked(std::unique_lock<std::mutex>& lock, Call&& call) {
  lock.unlock();
  call();
  lock.lock();
}

}  // namespace

Relay::Relay(core::Engine& engine, Sink& sink, const RelayOptions& options, std::uint32_t seed,
             RelayHooks hooks)
    : engine_(engine),
      sink_(sink),
      flow_(options, seed, engine.capabilities().joins),
      hooks_(std::move(hooks)) {}

void Relay::tell_of_breaker(Lock& lock) {
  const BreakerState state = flow_.breaker();
  const bool told_already =
      told_open_ ? state != BreakerState::closed : state != BreakerState::open;
  if (!hooks_.on_breaker || told_already) return;
  told_open_ = !told_open_;
  const std::string why = flow_.stats().last_error;
  unlocked(lock, [&] { hooks_.on_breaker(told_open_, why); });
}

void Relay::tell_of_outage(Lock& lock) {
  const std::optional<Error> outage = flow_.outage();
  if (!hooks_.on_outage || outage.has_value() == told_outage_) return;
  told_outage_ = !told_outage_;
  unlocked(lock, [&] { hooks_.on_outage(outage); });
}

void Relay::tell_of_mishaps(Lock& lock) {
  if (!hooks_.on_mishap) return;
  for (const Mishap mishap : kMishaps) {
    Told& told = told_mishaps_[static_cast<std::size_t>(mishap)];
    const std::uint64_t count = flow_.mishaps(mishap).count;
    if (count == told.count) continue;
    const Moment now = moment_now();
    if (told.next && now < *told.next) continue;
    told.count = count;
    // The open breaker was reported already.
    if (mishap == Mishap::failed && flow_.breaker() != BreakerState::closed) continue;
    told.next = now + kTellMishapsEvery;
    const std::string why = flow_.mishaps(mishap).reason;
    unlocked(lock, [&] { hooks_.on_mishap(mishap, why); });
  }
}

void Relay::tell_of_failure(Lock& lock) {
  if (!hooks_.on_failed || !flow_.error() || std::exchange(told_failed_, true)) return;
  unlocked(lock, hooks_.on_failed);
}

template <typename Tell>
void Relay::news(Tell tell) {
  // Keeps the lock until the end: once the flow has finished, `run` returns and the relay may be
  // destroyed.
  const std::lock_guard lock(mutex_);
  tell(moment_now());
  news_ = true;
  news_arrived_.notify_one();
}

Result<void> Relay::run(std::stop_token stop) {
  const std::stop_callback on_stop(std::move(stop),
                                   [this] { news([this](Moment now) { flow_.stop(now); }); });
  Lock lock(mutex_);
  for (;;) {
    tell_of_breaker(lock);
    tell_of_outage(lock);
    tell_of_mishaps(lock);
    tell_of_failure(lock);
    Flow::Step step = flow_.next(moment_now());
    if (std::holds_alternative<Flow::Finished>(step)) break;
    std::visit([&](auto& what) { perform(lock, std::move(what)); }, step);
  }
  const auto error = flow_.error();
  lock.unlock();
  sink_.close();
  if (error) return *error;
  return {};
}

void Relay::serve(std::vector<Share> shares) {
  news([&](Moment) { flow_.serve(std::move(shares)); });
}

void Relay::abandon() {
  sink_.abandon();
  news([this](Moment) { flow_.abandon(); });
}

RelayStats Relay::stats() const {
  const std::lock_guard lock(mutex_);
  return flow_.stats();
}

void Relay::perform(Lock& lock, core::ClaimRequest request) {
  unlocked(lock, [&] {
    claim_ = engine_.submit(std::move(request), [this](Result<core::Reply> reply) {
      auto claimed = core::shared_claim(std::move(reply));
      news([&](Moment now) { flow_.claimed(std::move(claimed), now); });
    });
  });
}

template <typename Answered>
void Relay::ask(Lock& lock, core::Request request, Answered answered) {
  unlocked(lock, [&] {
    engine_.submit(std::move(request), [this, answered](Result<core::Reply> reply) {
      const auto items = core::reply_as<core::ItemsReply>(std::move(reply));
      news([&](Moment now) { (flow_.*answered)(items, now); });
    });
  });
}

void Relay::perform(Lock& lock, core::SettleRequest request) {
  ask(lock, std::move(request), &Flow::settled);
}

void Relay::perform(Lock& lock, core::ExtendRequest request) {
  ask(lock, std::move(request), &Flow::extended);
}

void Relay::perform(Lock& lock, Flow::HandOn hand_on) {
  std::vector<Outgoing> batch;
  batch.reserve(hand_on.jobs.size());
  for (Flow::Job& job : hand_on.jobs) {
    batch.push_back({std::move(job.delivery),
                     [this, id = job.id](Answer answer) {
                       news([&](Moment now) { flow_.answered(id, std::move(answer), now); });
                     },
                     std::move(job.lease)});
  }
  unlocked(lock, [&] { sink_.send(std::move(batch)); });
}

void Relay::perform(Lock& lock, Flow::Withdraw) {
  unlocked(lock, [this] { engine_.withdraw(claim_); });
}

void Relay::perform(Lock& lock, Flow::CloseSink) {
  unlocked(lock, [this] { sink_.close(); });
}

void Relay::perform(Lock& lock, Flow::AbandonSink) {
  unlocked(lock, [this] { sink_.abandon(); });
}

void Relay::perform(Lock& lock, Flow::Wait wait) {
  const auto arrived = [this] { return news_; };
  if (wait.until) {
    news_arrived_.wait_until(lock, base::BootClock::time_point(*wait.until), arrived);
  } else {
    news_arrived_.wait(lock, arrived);
  }
  news_ = false;
}

}  // namespace tarry::relay
