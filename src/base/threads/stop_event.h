// StopEvent: a stop signal that also ends a wait for a descriptor. Without it, a silent pipe could
// be waited for forever.
//
// Thread safety: `set` may be called from several threads at once.
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

  /// Waits until `fd` is ready for `events` (POLLIN, POLLOUT) or has failed, and returns true.
  /// False: the stop came first, or had come before the call.
  [[nodiscard]] bool wait_for(int fd, short events) const noexcept;

  enum class Woken : std::uint8_t { ready, stopped, too_late };
  /// The same, until `end` at most.
  [[nodiscard]] Woken wait_until(int fd, short events,
                                 std::chrono::steady_clock::time_point end) const noexcept;

 private:
  int fd_;
};

}  // namespace tarry::base
