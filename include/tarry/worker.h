// Worker: claims what is due and runs a handler on it.
//
// The handler says what becomes of the message; an exception it throws is a retry. While it runs
// its lease is extended. One worker may serve several queues, each with a handler of its own.
// Thread safe: `run` on one thread, the rest from any, handlers included.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tarry/queue.h>
#include <tarry/unique_function.h>

namespace tarry {

/// What a handler decides. Made by `ack`, `retry`, `release` and `bury`.
struct Verdict {
  Action action = Action::ack;
  std::optional<Millis> delay = {};
  std::string reason = {};  ///< bury; retry: why it is dead, should this have been the last attempt
};

[[nodiscard]] inline Verdict ack() { return {}; }
/// Again after the queue's backoff.
[[nodiscard]] inline Verdict retry() { return {Action::retry, {}, {}}; }
template <typename Rep, typename Period>
[[nodiscard]] Verdict retry(std::chrono::duration<Rep, Period> after) {
  return {Action::retry, Millis(detail::ceil_millis(after)), {}};
}
/// Again now, for whoever claims next; the attempt does not count.
[[nodiscard]] inline Verdict release() { return {Action::release, {}, {}}; }
[[nodiscard]] inline Verdict bury(std::string reason) {
  return {Action::bury, {}, std::move(reason)};
}

/// Called by `concurrency` threads at once. The token is signalled when the worker stops, and when
/// the claim was lost or its lease has ended without an answer of the store (it could not be
/// extended in time): another delivery may then begin.
/// What a handler throws is a retry, and the reason kept should it have been the last attempt.
/// Of the verdict, a delay is cut to 0 .. 100 years and a reason to 255 bytes of UTF-8.
///
/// Made of any callable, one that can only be moved included. Copies of a handler share it.
class Handler {
 public:
  Handler() noexcept = default;
  Handler(std::nullptr_t) noexcept {}  // NOLINT: implicit on purpose, as in std

  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Handler> &&
             std::is_invocable_r_v<Verdict, std::decay_t<F>&, const Delivery&, std::stop_token>)
  Handler(F&& callable) {  // NOLINT: implicit on purpose, as in std
    Function function(std::forward<F>(callable));
    if (function) function_ = std::make_shared<Function>(std::move(function));
  }

  [[nodiscard]] explicit operator bool() const noexcept { return function_ != nullptr; }
  /// Aborts when empty.
  Verdict operator()(const Delivery& delivery, std::stop_token stop) const {
    if (!function_) detail::empty_function_called();
    return (*function_)(delivery, std::move(stop));
  }

 private:
  using Function = UniqueFunction<Verdict(const Delivery&, std::stop_token)>;

  std::shared_ptr<Function> function_;
};

struct WorkerOptions {
  std::uint32_t concurrency = 1;  ///< 1 .. 1024 handlers at once, each on its own thread
  /// 0 .. 8,976 messages claimed ahead beyond what runs: with the 1,024 handlers that there may be,
  /// the 10,000 that one claim takes at most.
  std::uint32_t prefetch = 0;
  std::optional<Millis> lease = {};  ///< default: the queue's
  /// 0 .. 24 h after a stop the leases of running handlers are still extended; default: until
  /// they return. A handler that outlives it no longer keeps its message from others.
  std::optional<Millis> drain = {};
  /// Told once when the store cannot be asked for now and the worker tries again (the error), and
  /// once when it answers again (nothing). On a thread that also signals stop tokens, and waits for
  /// it; `run` returns when it has returned.
  std::function<void(const std::optional<Error>&)> on_outage = {};
  /// Told why the store refused to settle a message, which comes again once its lease has run out
  /// (a layout, for one, has no place for what is buried). Once for those that come together, on
  /// the thread of `on_outage`.
  std::function<void(const Error&)> on_refusal = {};
};

/// One of a worker's queues: whose messages go to which handler, and how many of them at once.
struct QueueWork {
  Queue queue;
  Handler handler;
  WorkerOptions options = {};
};

/// Counts since the worker was made, over all its runs.
struct WorkerStats {
  std::uint64_t delivered = 0;  ///< handlers begun
  std::uint64_t acked = 0;
  std::uint64_t retried = 0;
  std::uint64_t buried = 0;
  std::uint64_t released = 0;  ///< by verdict, or since the worker stopped before the handler began
  std::uint64_t stale = 0;     ///< not settled: the lease had run out, or the store refused
  std::uint64_t refused = 0;   ///< of the stale: what the store refused to settle
  std::uint64_t run_out = 0;   ///< of the stale: a lease that the store would not extend any more
  std::uint64_t thrown = 0;    ///< handlers that ended by an exception
  std::uint64_t in_flight = 0;  ///< handlers that run now
  std::uint64_t waiting = 0;    ///< claimed, and not begun yet
  Millis lateness_p50{0};       ///< of first attempts, from due time to claim; within 2 %
  Millis lateness_p99{0};
  Millis lateness_max{0};
  std::string last_error = {};  ///< what() of the last exception, cut to 255 bytes of UTF-8
};

class Worker {
 public:
  Worker(Queue queue, WorkerOptions options, Handler handler);
  /// Several queues, also of several stores. At most `total` handlers run at once over all of them
  /// (0: as many as their concurrencies add up to); they take turns in the order in which messages
  /// came. What is claimed and waits for its turn has its lease extended too.
  explicit Worker(std::vector<QueueWork> queues, std::uint32_t total = 0);
  ~Worker();  ///< stops, and waits until `run` has drained; not from a handler
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Works until `stop` is requested, `stop()` is called or the store is closed, all three of which
  /// are success; then claims nothing more, lets the running handlers finish (their stop_token is
  /// signalled), releases what had not begun, and returns once all of that is settled.
  ///
  /// While the store is `unavailable` (or full, or an answer was lost) it tries again after 100 ms
  /// to 5 s; it keeps a verdict until the lease has run out, or, once stopped, for 10 s.
  ///
  /// Once one of several queues can no longer be served, all of them end.
  ///
  /// Errors: `closed` where a queue's store was closed before; `invalid_argument` for options out
  /// of range, no queue or one queue twice; `misuse`
  /// where it runs already or on a thread of an engine; `unavailable` where the system gives no
  /// thread; else what the store said when it could no longer be used.
  Result<void> run(std::stop_token stop);

  /// Ends `run`, the one in progress and any later one. Returns at once.
  void stop() noexcept;

  /// Of all queues together.
  [[nodiscard]] WorkerStats stats() const;
  /// Of the queue of that name; nothing where the worker serves none such. Where it serves queues
  /// of one name in several stores: the first of them.
  [[nodiscard]] std::optional<WorkerStats> stats(std::string_view queue) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry
