// StopEvent: a stop that interrupts who waits for a descriptor: a pipe may say nothing for ever.
//
// Thread safety: `set` from any thread, and from several.
#pragma once

namespace tarry::base {

class StopEvent {
 public:
  StopEvent();
  ~StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;

  void set() noexcept;

  /// Waits until `fd` is ready for `events` (POLLIN, POLLOUT), or has failed: true. False: the stop
  /// came first, or was there before.
  [[nodiscard]] bool wait_for(int fd, short events) const noexcept;

 private:
  int fd_;
};

}  // namespace tarry::base
