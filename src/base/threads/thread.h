// Starts the threads of the library and of the program. Each thread has a name and blocks signals,
// so that they reach the threads of the program that uses the library. Otherwise SIGTERM would
// reach one of our threads and end a program that blocks it and waits for it in one place (sigwait,
// signalfd).
//
// All signals are blocked except those that a thread causes by its own fault (SIGSEGV, SIGBUS,
// SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS). If these were blocked, a fault would end the process
// without calling the handler that reports it. Threads that our threads start (for example a
// resolver's) inherit the mask and the name.
//
// Thread safety: free functions, from any thread.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <stop_token>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

namespace tarry::base {

/// The name in ps, top and debuggers: 1 to 15 bytes, the most that Linux keeps.
class ThreadName {
 public:
  static constexpr std::size_t kMost = 15;

  template <std::size_t N>
    requires(N > 1 && N <= kMost + 1)
  consteval ThreadName(const char (&name)[N]) {  // NOLINT: implicit on purpose, for literals
    for (std::size_t i = 0; i < N; ++i) text_[i] = name[i];
  }
  /// "name-7". If it is too long, the name is cut, never the number.
  ThreadName(std::string_view name, std::size_t number);

  [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

 private:
  std::array<char, kMost + 1> text_{};
};

/// While this object lives, the current thread, and threads that it starts, take no signals except
/// faults.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

namespace detail {
void name_this_thread(const ThreadName& name) noexcept;
}  // namespace detail

/// Throws std::system_error if the system gives no thread.
template <typename Run>
[[nodiscard]] std::thread start_thread(ThreadName name, Run run) {
  const SignalsBlocked blocked;
  return std::thread([name, run = std::move(run)]() mutable {
    detail::name_this_thread(name);
    run();
  });
}

/// Starts a thread that its owner stops and joins: `run` may take a std::stop_token.
template <typename Run>
[[nodiscard]] std::jthread start_jthread(ThreadName name, Run run) {
  const SignalsBlocked blocked;
  return std::jthread([name, run = std::move(run)](std::stop_token stop) mutable {
    detail::name_this_thread(name);
    if constexpr (std::is_invocable_v<Run&, std::stop_token>) {
      run(std::move(stop));
    } else {
      run();
    }
  });
}

}  // namespace tarry::base
