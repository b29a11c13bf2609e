// SignalWatch: while it lives, it turns SIGTERM, SIGINT and, if wanted, SIGHUP into calls on a
// thread of its own.
//
// The constructors throw std::system_error if the machine has no descriptor left.
//
// Thread safety: one watch at a time in a process; `on_signal` runs on the watch's own thread.
#pragma once

#include <functional>
#include <thread>

namespace tarry::app {

/// Keeps each SIGHUP that comes before the SignalWatch is made, and that would otherwise end the
/// program. SIGTERM and SIGINT keep their actions. It must outlive the watch.
class HangupsKept {
 public:
  HangupsKept();
  ~HangupsKept();
  HangupsKept(const HangupsKept&) = delete;
  HangupsKept& operator=(const HangupsKept&) = delete;
};

class SignalWatch {
 public:
  /// `on_signal(count)` is called with 1 for the first signal, 2 for the second, and so on.
  /// `on_hangup`, if set, is called for SIGHUPs; several in a short time may make one call.
  explicit SignalWatch(std::function<void(int count)> on_signal,
                       std::function<void()> on_hangup = {});
  ~SignalWatch();  // restores the signals' former actions
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void watch();

  std::function<void(int)> on_signal_;
  std::function<void()> on_hangup_;
  bool counts_hangups_;  // true if no HangupsKept exists
  int stop_;             // an eventfd
  std::thread thread_;
};

}  // namespace tarry::app
