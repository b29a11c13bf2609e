#include "base/threads/stop_event.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace tarry::base {

StopEvent::StopEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

StopEvent::~StopEvent() { ::close(fd_); }

void StopEvent::set() noexcept {
  const std::uint64_t one = 1;
  // The write fails only if the event was set so often that one more makes no difference.
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
}

bool StopEvent::wait_for(int fd, short events) const noexcept {
  return wait_until(fd, events, std::chrono::steady_clock::time_point::max()) == Woken::ready;
}

StopEvent::Woken StopEvent::wait_until(int fd, short events,
                                       std::chrono::steady_clock::time_point end) const noexcept {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  std::array<pollfd, 2> fds{{{fd, events, 0}, {fd_, POLLIN, 0}}};
  for (;;) {
    int timeout_ms = -1;
    if (end != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
      timeout_ms =
          static_cast<int>(std::clamp(left, milliseconds(0), milliseconds(60'000)).count());
    }
    const int count = ::poll(fds.data(), fds.size(), timeout_ms);
    if (count > 0) return fds[1].revents != 0 ? Woken::stopped : Woken::ready;
    if (count == 0 && Clock::now() >= end) return Woken::too_late;
  }
}

}  // namespace tarry::base
