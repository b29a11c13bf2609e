// LentLoop: an io_context that one thread at a time runs: its own thread, or a caller that waits
// for an answer and so has nothing else to do (`Engine::submit_waiting`). To hand a request to
// another thread, and its answer back, takes two wake-ups, which often cost more than the rest.
//
// While callers take turns at the loop, the own thread rests. It runs the loop again if a caller
// leaves work behind, if another thread posts, or if no caller came for `kRest`. Meanwhile nobody
// sees that the server closed an idle connection. That does no harm: each request looks at its
// connection first.
//
// Invariants
//  1. At most one thread runs handlers, and threads hand the loop over under `mutex_`. So what
//     handlers use needs no lock.
//  2. Each posted task runs. A thread leaves the loop only if all posted tasks have run and the
//     loop is idle; else a caller wakes the own thread as it leaves.
//
// Thread safety: any thread may call `post` and `take`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/threads/thread.h"
#include "base/unique_function.h"

namespace tarry::remote {

class LentLoop {
 public:
  using Task = base::UniqueFunction<void()>;

  /// `is_idle`: whether no request waits for an answer. Runs on the thread that runs the loop.
  explicit LentLoop(std::function<bool()> is_idle) : is_idle_(std::move(is_idle)) {}
  LentLoop(const LentLoop&) = delete;
  LentLoop& operator=(const LentLoop&) = delete;

  [[nodiscard]] boost::asio::io_context& io() noexcept { return io_; }

  /// Starts the own thread. It ends once the io_context has no work left.
  void start(base::ThreadName name);
  void join() { thread_.join(); }
  [[nodiscard]] bool is_own_thread() const noexcept {
    return thread_.get_id() == std::this_thread::get_id();
  }

  /// Runs the task soon, on the thread that runs the loop.
  void post(Task task);

  /// Takes the loop, so that this thread runs it: returns true, and a call of `lend` must follow.
  /// False if another thread has it. Must not be called from a handler.
  [[nodiscard]] bool take();
  /// Runs the loop until a handler has set `done`, and gives it back. Without memory the program
  /// ends, as on the own thread.
  void lend(const bool& done) noexcept;

 private:
  enum class Runner : std::uint8_t { none, own, lender };

  void want_own_thread();
  void run();
  [[nodiscard]] bool run_until_idle();
  void wait_for_work();
  [[nodiscard]] bool may_leave() const;

  boost::asio::io_context io_{1};
  const std::function<bool()> is_idle_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Runner runner_ = Runner::own;
  bool wanted_ = false;  // the own thread is to run the loop, once nobody has it
  std::uint64_t posted_ = 0;
  std::uint64_t ran_ = 0;  // of the posted tasks; belongs to the thread that runs the loop
  std::atomic<bool> callers_come_ = false;  // a caller has come since the own thread looked
  std::thread thread_;
};

}  // namespace tarry::remote
