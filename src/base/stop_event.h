// StopEvent: a stop that interrupts a wait for a descriptor, because a pipe may stay silent for
// ever.
//
// Thread safety: `set` from any thread, and from several.
#pragma once

#include <chrono>
#include <cstdint>

namespace tarry::base {

class StopEvent {
 public:
  /// Throws std::system_error if the machine has no descriptor for it.
  StopEvent();
  ~StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;

  void set() noexcept;

  /// Waits until `fd` is ready for `events` (POLLIN, POLLOUT), or has failed: true. False: the stop
  /// came first, or was there before.
  [[nodiscard]] bool wait_for(int fd, short events) const noexcept;

  enum class Woken : std::uint8_t { ready, stopped, too_late };
  /// The same, until `end` at most.
  [[nodiscard]] Woken wait_until(int fd, short events,
                                 std::chrono::steady_clock::time_point end) const noexcept;

 private:
  int fd_;
};

}  // namespace tarry::base
