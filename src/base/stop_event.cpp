#include "base/stop_event.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/assert.h"

namespace tarry::base {

StopEvent::StopEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { TARRY_ASSERT(fd_ >= 0); }

StopEvent::~StopEvent() { ::close(fd_); }

void StopEvent::set() noexcept {
  const std::uint64_t one = 1;
  // It fails only where it was set so often that once more says nothing.
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
}

bool StopEvent::wait_for(int fd, short events) const noexcept {
  std::array<pollfd, 2> fds{{{fd, events, 0}, {fd_, POLLIN, 0}}};
  while (::poll(fds.data(), fds.size(), -1) < 0) {  // EINTR
  }
  return fds[1].revents == 0;
}

}  // namespace tarry::base
