#include "metrics/objective_tally.h"

#include <algorithm>

#include "core/settings/queue_limits.h"

namespace tarry::metrics {
namespace {

constexpr std::uint64_t kWholeShare = 100'000;

std::int64_t minute_of(Time time) noexcept {
  return std::chrono::floor<std::chrono::minutes>(time).time_since_epoch().count();
}

}  // namespace

void ObjectiveTally::Counts::add(const Counts& other) noexcept {
  claims += other.claims;
  engine += other.engine;
  unclaimed += other.unclaimed;
  paused += other.paused;
  limited += other.limited;
}

void ObjectiveTally::set(Objective objective) {
  if (objective == objective_) return;
  objective_ = objective;
  buckets_ = {};
}

void ObjectiveTally::observe(const QueueStats& queue, Time now) {
  set(queue.settings.objective);
  // A clock that was set back would leave a window in the future.
  if (const std::int64_t minute = minute_of(now); minute + 1 < minute_) {
    buckets_ = {};
    minute_ = minute;
  } else {
    minute_ = std::max(minute_, minute);
  }
  observed_ = now;
  if (queue.paused) {
    paused_seen_ = now;
  } else if (core::is_limited(queue)) {
    limited_seen_ = now;
  } else if (queue.waiting_claims == 0) {
    idle_seen_ = now;
  }
  overdue_ = queue.oldest_ready && now - *queue.oldest_ready > objective_.within;
}

/// Whether the queue was so since `due`. If it was not observed since, its latest state counts.
bool ObjectiveTally::was(const std::optional<Time>& seen, Time due) const noexcept {
  return seen && (*seen >= due || *seen == *observed_);
}

void ObjectiveTally::claimed(Time due, Time at) {
  Counts counts;
  counts.claims = 1;
  if (at - due > objective_.within) {
    if (was(paused_seen_, due)) {
      counts.paused = 1;
    } else if (was(limited_seen_, due)) {
      counts.limited = 1;
    } else if (!observed_ || was(idle_seen_, due)) {
      counts.unclaimed = 1;
    } else {
      counts.engine = 1;
    }
  }
  total_.add(counts);
  const std::int64_t minute = minute_of(at);
  minute_ = std::max(minute_, minute);
  Bucket& bucket = buckets_[static_cast<std::size_t>(minute) % kMinutes];
  if (bucket.minute > minute) return;  // the clock was set back since
  if (bucket.minute < minute) bucket = {minute, {}};
  bucket.counts.add(counts);
}

ObjectiveStats ObjectiveTally::stats() const {
  Counts sum;
  for (const Bucket& bucket : buckets_) {
    if (bucket.minute > minute_ - static_cast<std::int64_t>(kMinutes)) sum.add(bucket.counts);
  }
  const std::uint64_t allowed = kWholeShare - objective_.share;
  const bool too_many = sum.late() * kWholeShare > sum.claims * allowed;
  return {too_many || overdue_, overdue_,      sum.claims, sum.late(),
          sum.engine,           sum.unclaimed, sum.paused, sum.limited};
}

}  // namespace tarry::metrics
