// WakeEvent: wakes a thread that waits for descriptors. Its own descriptor is readable from `set`
// until `clear`.
//
// Thread safety: any threads may call `set`; only the waiting thread calls `clear`.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace tarry::base {

class WakeEvent {
 public:
  /// Throws std::system_error if the machine has no descriptor for it.
  WakeEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~WakeEvent() { ::close(fd_); }
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  void set() const noexcept {
    const std::uint64_t one = 1;
    // Cannot fail: the counter would have to reach 2^64.
    static_cast<void>(::write(fd_, &one, sizeof one));
  }
  void clear() const noexcept {
    std::uint64_t count = 0;
    static_cast<void>(::read(fd_, &count, sizeof count));
  }
  [[nodiscard]] int descriptor() const noexcept { return fd_; }

 private:
  const int fd_;
};

}  // namespace tarry::base
