// Worker: claims what is due and runs a handler on it.
//
// The handler says what becomes of the message; an exception it throws is a retry. While it runs
// its lease is extended. Thread safe: `run` on one thread, the rest from any, handlers included.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/queue.h>

namespace tarry {

/// What a handler decides. Made by `ack`, `retry` and `bury`.
struct Verdict {
  Action action = Action::ack;
  std::optional<Millis> delay = {};
  std::string reason = {};
};

[[nodiscard]] inline Verdict ack() { return {}; }
/// Again after the queue's backoff.
[[nodiscard]] inline Verdict retry() { return {Action::retry, {}, {}}; }
template <typename Rep, typename Period>
[[nodiscard]] Verdict retry(std::chrono::duration<Rep, Period> after) {
  return {Action::retry, Millis(detail::ceil_millis(after)), {}};
}
[[nodiscard]] inline Verdict bury(std::string reason) {
  return {Action::bury, {}, std::move(reason)};
}

/// Called by `concurrency` threads at once. The token is signalled when the worker stops, and when
/// the claim was lost (its lease could not be extended in time): another delivery may then begin.
/// Of the verdict, a delay is cut to 0 .. 100 years and a reason to 255 bytes of UTF-8.
using Handler = std::function<Verdict(const Delivery&, std::stop_token)>;

struct WorkerOptions {
  std::uint32_t concurrency = 1;     ///< 1 .. 1024 handlers at once, each on its own thread
  std::uint32_t prefetch = 0;        ///< 0 .. 8,976 messages claimed ahead beyond what runs
  std::optional<Millis> lease = {};  ///< default: the queue's
};

struct WorkerStats {
  std::uint64_t delivered = 0;  ///< handlers begun
  std::uint64_t acked = 0;
  std::uint64_t retried = 0;
  std::uint64_t buried = 0;
  std::uint64_t released = 0;  ///< mostly: claimed, but the worker stopped before the handler began
  std::uint64_t stale = 0;     ///< not settled: the lease had run out, or the store refused
};

class Worker {
 public:
  Worker(Queue queue, WorkerOptions options, Handler handler);
  ~Worker();  ///< stops, and waits until `run` has drained; not from a handler
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Works until `stop` is requested, `stop()` is called or the store is closed, all three of which
  /// are success; then claims nothing more, lets the running handlers finish (their stop_token is
  /// signalled), releases what had not begun, and returns once all of that is settled.
  ///
  /// While the store is `unavailable` (or full, or an answer was lost) it tries again after 100 ms
  /// to 5 s; it keeps a verdict until the lease has run out, or until 10 s after it was stopped.
  ///
  /// Errors: `invalid_argument` for options out of range, `misuse` where it runs already or on a
  /// thread of an engine, else what the store said when it could no longer be used.
  Result<void> run(std::stop_token stop);

  /// Ends `run`, the one in progress and any later one. Returns at once.
  void stop() noexcept;

  [[nodiscard]] WorkerStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry
