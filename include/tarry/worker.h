// Worker: claims due messages and runs a handler for each.
//
// The handler's verdict settles the message; an exception is a retry. The worker extends the lease
// while the handler runs. One worker may serve several queues, each with its own handler. Thread
// safety: `run` is called on one thread; all other members may be called from any thread, also in
// handlers.
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

/// A handler's decision. Made by `ack`, `retry`, `release` and `bury`.
struct Verdict {
  Action action = Action::ack;
  std::optional<Millis> delay = {};
  std::string reason = {};  ///< bury; retry: kept if this was the last attempt
};

[[nodiscard]] inline Verdict ack() { return {}; }
/// Delivers the message again after the queue's backoff.
[[nodiscard]] inline Verdict retry() { return {Action::retry, {}, {}}; }
template <typename Rep, typename Period>
[[nodiscard]] Verdict retry(std::chrono::duration<Rep, Period> after) {
  return {Action::retry, Millis(detail::ceil_millis(after)), {}};
}
/// Makes the message due again now; the attempt does not count.
[[nodiscard]] inline Verdict release() { return {Action::release, {}, {}}; }
[[nodiscard]] inline Verdict bury(std::string reason) {
  return {Action::bury, {}, std::move(reason)};
}

/// Called by up to `concurrency` threads at once. The token is signalled when the worker stops,
/// when the claim is lost, and when its lease has ended because the store did not answer the
/// extension in time. In the last two cases another delivery may begin. An exception counts as a
/// retry. Its text is the reason, which is kept if this was the last attempt. The verdict's delay
/// is cut to 0 .. 100 years, its reason to 255 bytes of UTF-8.
///
/// A Handler is made from any callable, even a move-only one. Copies of a Handler share the
/// callable.
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
  /// 0 .. 8,976 messages to claim ahead, besides those whose handlers run. With 1,024 running
  /// handlers that makes 10,000, the most that one claim may take.
  std::uint32_t prefetch = 0;
  std::optional<Millis> lease = {};  ///< default: the queue's
  /// 0 .. 24 h: how long after a stop the leases of running handlers are still extended; default:
  /// until they return. When that time is over, the message of a running handler may be delivered
  /// again.
  std::optional<Millis> drain = {};
  /// Called once with the error when the store cannot be reached and the worker starts to try
  /// again, and once without an error when the store is back. The thread that calls it also signals
  /// the stop tokens, so a slow callback delays them. `run` returns only after it has returned.
  std::function<void(const std::optional<Error>&)> on_outage = {};
  /// Called with the reason when the store refuses to settle a message (for example, a layout
  /// refuses a bury, because it has no dead messages). The message is then delivered again after
  /// its lease. Refusals that come together make one call. Runs on the same thread as `on_outage`.
  std::function<void(const Error&)> on_refusal = {};
};

/// One queue of a worker, with the handler and the options for that queue.
struct QueueWork {
  Queue queue;
  Handler handler;
  WorkerOptions options = {};
};

/// Counts since the worker was made, over all its runs.
struct WorkerStats {
  std::uint64_t delivered = 0;  ///< handlers that were started
  std::uint64_t acked = 0;
  std::uint64_t retried = 0;
  std::uint64_t buried = 0;
  std::uint64_t released = 0;   ///< by verdict, or because the worker stopped first
  std::uint64_t stale = 0;      ///< not settled: the lease had run out, or the store refused
  std::uint64_t refused = 0;    ///< of the stale: the store refused to settle
  std::uint64_t run_out = 0;    ///< of the stale: the store no longer extended the lease
  std::uint64_t thrown = 0;     ///< handlers that ended with an exception
  std::uint64_t in_flight = 0;  ///< handlers running now
  std::uint64_t waiting = 0;    ///< claimed, handler not started yet
  Millis lateness_p50{0};       ///< of first attempts, from due time to claim; within 2 %
  Millis lateness_p99{0};
  Millis lateness_max{0};
  std::string last_error = {};  ///< what() of the last exception, cut to 255 bytes of UTF-8
};

class Worker {
 public:
  Worker(Queue queue, WorkerOptions options, Handler handler);
  /// Several queues, which may belong to several stores. At most `total` handlers run at once over
  /// all queues (0: the sum of their concurrencies). They start in the order in which their
  /// messages were claimed. The leases of messages that wait for a handler are extended too.
  explicit Worker(std::vector<QueueWork> queues, std::uint32_t total = 0);
  ~Worker();  ///< stops, and waits until `run` has drained; not from a handler
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Works until `stop` is requested, `stop()` is called or the store is closed; each of these
  /// counts as success. Then it claims nothing more, signals the stop_token of running handlers and
  /// lets them finish, releases messages whose handler has not started, and returns when all are
  /// settled.
  ///
  /// While the store is `unavailable` (or full, or an answer was lost) it tries again after 100 ms
  /// to 5 s. It keeps trying to deliver a verdict until the message's lease has run out, or, once
  /// stopped, for 10 s.
  ///
  /// As soon as one of several queues can no longer be served, the worker stops serving all of
  /// them.
  ///
  /// Errors: `closed` if a queue's store was closed before; `invalid_argument` for options out of
  /// range, no queue or one queue twice; `misuse` if it runs already, or on a thread of an engine;
  /// `unavailable` if the system gives no thread; otherwise the error by which the store became
  /// unusable.
  Result<void> run(std::stop_token stop);

  /// Ends the `run` in progress and every later one. Returns at once.
  void stop() noexcept;

  /// For all queues together.
  [[nodiscard]] WorkerStats stats() const;
  /// The counts of the queue of that name; empty if the worker does not serve it. If it serves
  /// queues of that name in several stores, the counts of the first.
  [[nodiscard]] std::optional<WorkerStats> stats(std::string_view queue) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry
