#include "timing/manual_clock.h"

#include <tarry/clock.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/text/text.h"

namespace tarry {
namespace {

constexpr Time kStart{std::chrono::sys_days{std::chrono::year{2020} / 1 / 1}};
/// Not 0, so that nothing in a test passes only because the clock reads 0.
constexpr std::int64_t kUptimeMs = 3'600'000;

std::int64_t since_1970(Time time) noexcept { return time.time_since_epoch().count(); }

bool is_possible(Millis by) noexcept {
  return by.count() >= -base::kMaxDurationMs && by.count() <= base::kMaxDurationMs;
}

}  // namespace

ManualClock::ManualClock() : ManualClock(kStart) {}

ManualClock::ManualClock(Time start)
    : clock_(std::make_shared<timing::ManualClock>(timing::Instant{since_1970(start), kUptimeMs})) {
  TARRY_ASSERT(since_1970(start) >= 0 && since_1970(start) <= base::kMaxTimeMs);
}

ManualClock::ManualClock(std::shared_ptr<timing::ManualClock> clock) noexcept
    : clock_(std::move(clock)) {}

Time ManualClock::now() const { return Time(Millis(clock_->now().realtime_ms)); }

void ManualClock::advance(Millis by) {
  TARRY_ASSERT(by >= Millis(0) && is_possible(by));
  const std::int64_t left = std::max<std::int64_t>(base::kMaxTimeMs - clock_->now().realtime_ms, 0);
  clock_->advance(std::min<std::int64_t>(by.count(), left));
}

void ManualClock::step(Millis by) {
  TARRY_ASSERT(is_possible(by));
  const std::int64_t after = clock_->now().realtime_ms + by.count();
  TARRY_ASSERT(after >= 0 && after <= base::kMaxTimeMs);
  clock_->step_realtime(by.count());
}

}  // namespace tarry
