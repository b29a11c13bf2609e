// SignalWatch: while it lives, SIGTERM and SIGINT, and SIGHUP if wanted, become calls on a thread
// of its own.
//
// Constructors throw std::system_error if the machine has no descriptor for them.
//
// Thread safety: one watch at a time in a process; `on_signal` runs on the watch's own thread.
#pragma once

#include <functional>
#include <thread>

namespace tarry::app {

/// Keeps each SIGHUP for the later watch; otherwise a SIGHUP would end the program. SIGTERM and
/// SIGINT keep their actions. It outlives the watch.
class HangupsKept {
 public:
  HangupsKept();
  ~HangupsKept();
  HangupsKept(const HangupsKept&) = delete;
  HangupsKept& operator=(const HangupsKept&) = delete;
};

class SignalWatch {
 public:
  /// `on_signal(count)`: 1 for the first signal, 2 for the second, ... `on_hangup`, if set: called
  /// for each SIGHUP; several in a short time may be one call.
  explicit SignalWatch(std::function<void(int count)> on_signal,
                       std::function<void()> on_hangup = {});
  ~SignalWatch();  // the signals get back their former actions
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void watch();

  std::function<void(int)> on_signal_;
  std::function<void()> on_hangup_;
  bool counts_hangups_;  // no HangupsKept exists
  int stop_;             // an eventfd
  std::thread thread_;
};

}  // namespace tarry::app
