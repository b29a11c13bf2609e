#include "timing/manual_clock.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tarry::timing {

ManualClock::ManualClock(Instant start, std::uint64_t boot_id) : now_(start), boot_id_(boot_id) {}

Instant ManualClock::now() const {
  const std::lock_guard lock(time_mutex_);
  return now_;
}

std::uint64_t ManualClock::boot_id() const {
  const std::lock_guard lock(time_mutex_);
  return boot_id_;
}

void ManualClock::set(Instant instant) {
  {
    const std::lock_guard lock(time_mutex_);
    TARRY_ASSERT(instant.boottime_ms >= now_.boottime_ms);
    now_ = instant;
  }
  notify();
}

void ManualClock::advance(std::int64_t delta_ms) {
  TARRY_ASSERT(delta_ms >= 0);
  {
    const std::lock_guard lock(time_mutex_);
    now_.realtime_ms += delta_ms;
    now_.boottime_ms += delta_ms;
  }
  notify();
}

void ManualClock::step_realtime(std::int64_t delta_ms) {
  {
    const std::lock_guard lock(time_mutex_);
    now_.realtime_ms += delta_ms;
  }
  notify();
}

void ManualClock::suspend(std::int64_t delta_ms) { advance(delta_ms); }

void ManualClock::new_boot(std::uint64_t boot_id, std::int64_t boottime_ms) {
  {
    const std::lock_guard lock(time_mutex_);
    boot_id_ = boot_id;
    now_.boottime_ms = boottime_ms;
  }
  notify();
}

ManualClock::Token ManualClock::subscribe(Listener listener) {
  auto subscription = std::make_shared<Subscription>();
  subscription->listener = std::move(listener);
  const std::lock_guard lock(listeners_mutex_);
  const Token token = next_token_++;
  subscriptions_.emplace(token, std::move(subscription));
  return token;
}

void ManualClock::unsubscribe(Token token) {
  std::unique_lock lock(listeners_mutex_);
  const auto found = subscriptions_.find(token);
  if (found == subscriptions_.end()) return;
  const std::shared_ptr<Subscription> subscription = std::move(found->second);
  subscriptions_.erase(found);
  subscription->ended = true;
  call_ended_.wait(lock, [&] {
    // A listener that ends its own subscription must not wait for its own call.
    return std::ranges::all_of(subscription->running, [](std::thread::id thread) {
      return thread == std::this_thread::get_id();
    });
  });
  const bool called_by_itself = !subscription->running.empty();
  lock.unlock();
  // The listener's objects are destroyed here, not later on a thread that still holds the
  // subscription.
  if (!called_by_itself) subscription->listener = nullptr;
}

void ManualClock::notify() {
  std::vector<std::shared_ptr<Subscription>> called;
  {
    const std::lock_guard lock(listeners_mutex_);
    called.reserve(subscriptions_.size());
    for (const auto& [token, subscription] : subscriptions_) called.push_back(subscription);
  }
  const auto self = std::this_thread::get_id();
  for (const auto& subscription : called) {
    {
      const std::lock_guard lock(listeners_mutex_);
      if (subscription->ended) continue;
      subscription->running.push_back(self);
    }
    subscription->listener();
    {
      const std::lock_guard lock(listeners_mutex_);
      auto& running = subscription->running;
      running.erase(std::ranges::find(running, self));
    }
    call_ended_.notify_all();
  }
}

}  // namespace tarry::timing
