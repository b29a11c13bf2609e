#include "figures/bare_timer.h"

#include <sys/timerfd.h>
#include <time.h>  // NOLINT: clock_gettime is POSIX's
#include <unistd.h>

#include <cstdint>

#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

std::int64_t realtime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000 * kMillion + now.tv_nsec;
}

}  // namespace

BareTimer::BareTimer() : thread_([this] { run(); }) {}

BareTimer::~BareTimer() { (void)stop(); }

const base::Histogram& BareTimer::stop() {
  stopping_.store(true);
  if (thread_.joinable()) thread_.join();
  return lateness_;
}

void BareTimer::run() {
  const int timer = ::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  must(timer >= 0, "a timer is made");
  while (!stopping_.load(std::memory_order_relaxed)) {
    const std::int64_t due = (realtime_ns() / kMillion + 1) * kMillion;
    itimerspec when{};
    when.it_value = {due / (1'000 * kMillion), due % (1'000 * kMillion)};
    must(::timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr) == 0, "the timer is set");
    std::uint64_t times = 0;
    must(::read(timer, &times, sizeof times) == sizeof times, "the timer is read");
    lateness_.record((realtime_ns() - due) / 1'000);
  }
  ::close(timer);
}

}  // namespace tarry::bench
