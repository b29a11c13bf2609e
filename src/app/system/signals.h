// SignalWatch: SIGTERM and SIGINT, and SIGHUP for those who want it, as calls on a thread of ours,
// while it lives.
//
// Constructors throw std::system_error where the machine has no descriptor for them.
//
// Thread safety: one watch at a time in a process; `on_signal` runs on the watch's own thread.
#pragma once

#include <functional>
#include <thread>

namespace tarry::app {

/// Keeps each SIGHUP for the watch that is to come: else one would end the program. SIGTERM and
/// SIGINT do what they did. It outlives the watch.
class HangupsKept {
 public:
  HangupsKept();
  ~HangupsKept();
  HangupsKept(const HangupsKept&) = delete;
  HangupsKept& operator=(const HangupsKept&) = delete;
};

class SignalWatch {
 public:
  /// `on_signal(count)`: 1 for the first signal, 2 for the second, ...
  /// `on_hangup`, where there is one: for each SIGHUP; several at once may be one.
  explicit SignalWatch(std::function<void(int count)> on_signal,
                       std::function<void()> on_hangup = {});
  ~SignalWatch();  // the signals do again what they did before
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void watch();

  std::function<void(int)> on_signal_;
  std::function<void()> on_hangup_;
  bool counts_hangups_;  // nobody has kept them
  int stop_;             // an eventfd
  std::thread thread_;
};

}  // namespace tarry::app
