#include "engines/embedded/threads/sleeper.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

constexpr int kLongestMs = 1000;  // the independent sweep: nothing waits longer for a lost wake-up

class KernelSleeper final : public Sleeper {
 public:
  KernelSleeper()
      : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        realtime_{timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC), {}},
        boottime_{timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC), {}} {
    if (!works()) why_ = errno;
  }
  ~KernelSleeper() override {
    for (const int fd : {event_, realtime_.fd, boottime_.fd}) {
      if (fd >= 0) close(fd);
    }
  }
  KernelSleeper(const KernelSleeper&) = delete;
  KernelSleeper& operator=(const KernelSleeper&) = delete;

  [[nodiscard]] bool works() const noexcept {
    return event_ >= 0 && realtime_.fd >= 0 && boottime_.fd >= 0;
  }
  [[nodiscard]] int why() const noexcept { return why_; }

  void wake() noexcept override {
    const std::uint64_t one = 1;
    // Full means that a wake is pending already.
    [[maybe_unused]] const auto written = write(event_, &one, sizeof one);
  }

  void sleep(std::optional<std::int64_t> until_realtime_ms,
             std::optional<std::int64_t> until_boottime_ms) override {
    arm(realtime_, until_realtime_ms, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
    arm(boottime_, until_boottime_ms, TFD_TIMER_ABSTIME);
    std::array<pollfd, 3> fds{
        {{event_, POLLIN, 0}, {realtime_.fd, POLLIN, 0}, {boottime_.fd, POLLIN, 0}}};
    poll(fds.data(), fds.size(), kLongestMs);
    // A timer that has fired, or was cancelled by a step of the clock, reports so until it is set
    // again.
    if (fds[1].revents != 0) realtime_.armed.reset();
    if (fds[2].revents != 0) boottime_.armed.reset();
    if (fds[0].revents == 0) return;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(event_, &count, sizeof count);
  }

 private:
  struct Timer {
    int fd;
    // The time that is set; nothing: it must be set, or disabled.
    std::optional<std::optional<std::int64_t>> armed;
  };

  static void arm(Timer& timer, std::optional<std::int64_t> until_ms, int flags) {
    if (timer.armed && *timer.armed == until_ms) return;
    itimerspec when{};
    if (until_ms) {
      // All zero would disable the timer; a time in the past fires at once.
      const std::int64_t at = std::max<std::int64_t>(*until_ms, 1);
      when.it_value.tv_sec = at / 1000;
      when.it_value.tv_nsec = at % 1000 * 1'000'000;
    }
    if (timerfd_settime(timer.fd, flags, &when, nullptr) == 0) timer.armed = until_ms;
  }

  int why_ = 0;  // errno, if one of these could not be made
  int event_;
  Timer realtime_;
  Timer boottime_;
};

class ManualSleeper final : public Sleeper {
 public:
  explicit ManualSleeper(std::shared_ptr<timing::ManualClock> clock)
      : clock_(std::move(clock)), token_(clock_->subscribe([this] { wake(); })) {}
  ~ManualSleeper() override { clock_->unsubscribe(token_); }
  ManualSleeper(const ManualSleeper&) = delete;
  ManualSleeper& operator=(const ManualSleeper&) = delete;

  void wake() noexcept override {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }

  void sleep(std::optional<std::int64_t> until_realtime_ms,
             std::optional<std::int64_t> until_boottime_ms) override {
    const timing::Instant now = clock_->now();
    if ((until_realtime_ms && *until_realtime_ms <= now.realtime_ms) ||
        (until_boottime_ms && *until_boottime_ms <= now.boottime_ms)) {
      return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return woken_; });
    woken_ = false;
  }

 private:
  std::shared_ptr<timing::ManualClock> clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  timing::ManualClock::Token token_;
};

}  // namespace

Result<std::unique_ptr<Sleeper>> make_sleeper(const std::shared_ptr<const timing::Clock>& clock) {
  if (auto manual = std::dynamic_pointer_cast<const timing::ManualClock>(clock)) {
    // Subscribing changes the clock object but not the time; the owner holds it as non-const.
    return std::unique_ptr<Sleeper>(std::make_unique<ManualSleeper>(
        std::const_pointer_cast<timing::ManualClock>(std::move(manual))));
  }
  auto sleeper = std::make_unique<KernelSleeper>();
  if (!sleeper->works()) {
    return Unexpected(ErrorCode::unavailable,
                      "no timer for a shard: " + std::generic_category().message(sleeper->why()));
  }
  return std::unique_ptr<Sleeper>(std::move(sleeper));
}

}  // namespace tarry::embedded
