// Store: what `tarry::open` opens.
//
//   memory:                                       in RAM, gone with the process
//   file:PATH?sync=always|100ms|os&shards=N       on this machine's disk
//   http://HOST:PORT                              a tarry server
//   redis://HOST:PORT                             one Redis or Valkey
// and http+unix:, rediss:, redis+unix:, redis+cluster:, redis+sentinel:, each with options of its
// own: docs/reference/urls.md.
//
// A store belongs to the process that opened it. After fork(), in the child, its verbs answer
// `misuse`, it must be given to no Worker and no Server, and nothing happens where its handles are
// closed or let go. Until the child exits or calls exec, a `file:` store stays locked.
//
// Thread safe. A Store is a handle: the last copy to go closes the engine, as `close` does, even
// where Queues live on; they then answer `closed`. So does a Store that was moved away.
//
// Its threads block all signals but those of faults: SIGTERM and the like stay with the program,
// which may wait for them by sigwait. What a callback or a handler starts inherits that.
//
// Out of memory: a verb throws std::bad_alloc, having done nothing, or, where it was done and only
// its answer found no room, says `unknown_outcome`. `close` and destructors need none. On threads
// of the library, and in Worker::run, it ends the program.
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

/// Runs a task soon, on a thread of the user's choice.
using Executor = std::function<void(std::function<void()>)>;

/// Called during long work at opening (recovery): bytes done, bytes in all.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct OpenOptions {
  Executor executor = {};                 ///< where callbacks run; default: a thread of the engine
  std::optional<ManualClock> clock = {};  ///< for tests; not with http:, which has its server's
  Progress progress = {};
  std::string holder = {};  ///< written into the lock of a `file:` store; default: "pid N"
  /// Told what an operator should know. Not with http:, whose server has a log; default: nobody is
  /// told. Called on the thread that opens and, until the store is closed, on the engine's threads,
  /// several at once. It must be quick, not throw, and call no verb of the store.
  Log log = {};
  bool create = true;  ///< false: a `file:` store that is not there is `not_found`, and not made
};

class Store {
 public:
  /// For the library: `tarry::open` makes them. Copies of this one own the state together; a second
  /// Store made of the same state would own it again.
  explicit Store(std::shared_ptr<detail::StoreState> state);

  /// A handle on the queue of that name. Makes nothing: its first push or `configure` does. A name
  /// that is ill-formed is refused by the verbs.
  [[nodiscard]] Queue queue(std::string_view name) const;

  /// Claims from several queues at once, fairly.
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
  /// Extends claims of any queue, each from now on (default: by its queue's lease).
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

  /// Completes everything outstanding with `closed`, makes durable what was accepted, and
  /// returns when the engine has stopped: its threads and descriptors are gone. Idempotent. From a
  /// callback on a thread of the engine it returns at once, and the engine stops when that callback
  /// has returned.
  void close();

  /// The clock that the store goes by, where that is one moved by hand.
  [[nodiscard]] std::optional<ManualClock> manual_clock() const;

  /// For the library and the server.
  [[nodiscard]] core::Engine& engine() const noexcept;
  [[nodiscard]] const std::shared_ptr<detail::StoreState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::StoreState> state_;
  std::shared_ptr<void> owner_;  // closes the store when the last copy of it goes
};

/// Opens the store that the URL names. Errors: `invalid_argument` for a URL or option that is
/// wrong or that differs from what the store was made with, `conflict` where another process holds
/// the store, `not_found` where there is none and `create` is false, `damaged` where its journal
/// does not check, `unavailable` where it cannot be reached, or the system gives no thread.
[[nodiscard]] Result<Store> open(std::string_view url, OpenOptions options = {});

/// The URL of the `file:` store in that directory, whatever bytes its path has: `%`, `?`, `#`,
/// spaces, `~`. (`"file:" + path` would take `a%41` for `aA`, and what follows a `?` for options.)
/// Add options behind it, after a `?`.
[[nodiscard]] std::string file_url(std::string_view path);

}  // namespace tarry
