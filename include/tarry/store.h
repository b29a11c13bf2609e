// Store: what `tarry::open` opens.
//
//   memory:                                       in RAM, lost when the process ends
//   file:PATH?sync=always|100ms|os&shards=N       on this machine's disk
//   http://HOST:PORT                              a tarry server
//   https://HOST:PORT?ca=FILE                     the same over TLS
//   redis://HOST:PORT                             one Redis or Valkey
// Also http+unix:, rediss:, redis+unix:, redis+cluster: and redis+sentinel:. docs/reference/urls.md
// has the options of each.
//
// A store belongs to the process that opened it. After fork(), in the child, its verbs answer
// `misuse`, and no Worker or Server may use it; closing or destroying a handle does nothing in the
// child. A `file:` store stays locked until the child exits or calls exec.
//
// Thread safe. A Store is a handle: destroying the last copy closes the engine, as `close` does,
// even if Queues still exist. Their verbs, and those of a moved-from Store, then answer `closed`.
//
// The store's threads block all signals except those of faults. So SIGTERM and the like reach the
// program's own threads, which may wait for them with sigwait. A process that a callback or handler
// starts inherits this signal mask.
//
// Out of memory: a verb throws std::bad_alloc, and nothing was done. If the work was done but the
// answer did not fit into memory, it answers `unknown_outcome`. `close` and destructors need no
// memory. If a thread of the library or Worker::run finds no memory, the program ends.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/clock.h>
#include <tarry/log.h>
#include <tarry/queue.h>
#include <tarry/result.h>
#include <tarry/settings.h>

namespace tarry {

namespace core {
class Engine;
}

/// Runs a task soon, on a thread that you choose.
using Executor = std::function<void(std::function<void()>)>;

/// Called during long work in `open` (recovery): bytes done, bytes in total.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct OpenOptions {
  Executor executor = {};                 ///< where callbacks run; default: a thread of the engine
  std::optional<ManualClock> clock = {};  ///< for tests; not with http: (the server has one)
  Progress progress = {};
  std::string holder = {};  ///< written into the lock of a `file:` store; default: "pid N"
  /// Called with each event for the operator; by default events are dropped. Not called with http:,
  /// because the server has its own log. It is called on the thread that runs `open` and, until the
  /// store is closed, on the engine's threads, several at once. It must be quick, must not throw,
  /// and must call no verb of the store.
  Log log = {};
  bool create = true;  ///< false: `not_found` if a `file:` store does not exist
};

class Store {
 public:
  /// For the library: `tarry::open` makes stores. Copies of a Store share the state and close it
  /// once. A second Store made from the same state would close it a second time.
  explicit Store(std::shared_ptr<detail::StoreState> state);

  /// A handle for the queue of that name. The queue itself is created by the first push or
  /// `configure`. If the name is ill-formed, the verbs refuse it.
  [[nodiscard]] Queue queue(std::string_view name) const;

  /// Claims from several queues at once. The queues take turns, so that a full one does not starve
  /// the others.
  Result<std::vector<Delivery>> claim(std::span<const std::string_view> queues,
                                      const ClaimOptions& options) const;
  Result<std::vector<Delivery>> claim(std::initializer_list<std::string_view> queues,
                                      const ClaimOptions& options) const {
    return claim(std::span(queues.begin(), queues.size()), options);
  }
  void claim(std::span<const std::string_view> queues, const ClaimOptions& options,
             Callback<std::vector<Delivery>> done) const;
  /// Settles claims of any queue.
  Result<std::vector<Result<Answer>>> settle(std::span<const Settle> items) const;
  template <typename = void>
  Result<std::vector<Result<Answer>>> settle(std::initializer_list<Settle> items) const {
    return settle(std::span(items.begin(), items.size()));
  }
  Result<Answer> settle(std::initializer_list<detail::NoItem> nothing) const = delete;
  void settle(std::span<const Settle> items, Callback<std::vector<Result<Answer>>> done) const;
  /// Extends claims of any queue, from now on (default: each by its queue's lease).
  Result<std::vector<Result<Answer>>> extend(std::span<const std::string_view> receipts,
                                             std::optional<Millis> lease = {}) const;
  void extend(std::span<const std::string_view> receipts, std::optional<Millis> lease,
              Callback<std::vector<Result<Answer>>> done) const;
  Result<std::vector<Result<Answer>>> extend(std::span<const Delivery> deliveries,
                                             std::optional<Millis> lease = {}) const;
  void extend(std::span<const Delivery> deliveries, std::optional<Millis> lease,
              Callback<std::vector<Result<Answer>>> done) const;

  Result<StoreStats> stats() const;
  void stats(Callback<StoreStats> done) const;

  /// Completes all outstanding verbs with `closed`, makes accepted messages durable, and returns
  /// when the engine has stopped and its threads and descriptors are gone. Idempotent. Called in a
  /// callback on a thread of the engine, it returns at once; the engine then stops after that
  /// callback has returned.
  void close();

  /// The store's clock, if it is a manual one.
  [[nodiscard]] std::optional<ManualClock> manual_clock() const;

  /// For the library and the server.
  [[nodiscard]] core::Engine& engine() const noexcept;
  [[nodiscard]] const std::shared_ptr<detail::StoreState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::StoreState> state_;
  std::shared_ptr<void> owner_;  // closes the store when the last copy of it goes
};

/// Opens the store that the URL names. Errors: `invalid_argument` if the URL or an option is wrong,
/// or contradicts what was fixed when the store was made; `conflict` if another process holds the
/// store; `not_found` if there is none and `create` is false; `damaged` if its journal is damaged;
/// `unavailable` if it cannot be reached, or the system gives no thread.
[[nodiscard]] Result<Store> open(std::string_view url, OpenOptions options = {});

/// The URL of the `file:` store in that directory. Works for any path, even one with `%`, `?`, `#`,
/// spaces or `~`. (With `"file:" + path`, `a%41` would be read as `aA`, and the text after a `?` as
/// options.) To add options, append `?` and the options.
[[nodiscard]] std::string file_url(std::string_view path);

}  // namespace tarry
