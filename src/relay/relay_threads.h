// RelayThreads: one relay, with its name, on the configured number of threads. Each thread has a
// sink of its own and makes its own claims. The relay's limits are divided among the threads.
//
// Order: each thread keeps the order of the messages that it claims; between threads there is no
// order.
//
// Thread safety: `stats`, `is_up`, `stop` and `abandon` may be called from any thread; all other
// functions from one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <tarry/result.h>

#include "core/engine.h"
#include "relay/coordination/coordination.h"
#include "relay/options.h"
#include "relay/queue_discovery.h"
#include "relay/relay.h"
#include "relay/sink.h"

namespace tarry::relay {

inline constexpr std::uint32_t kMaxThreads = 64;

/// Adds the figures of one relay, or of one run of it, to `sum`.
void add(RelayStats& sum, const RelayStats& one);

struct RelayThreadsOptions {
  std::string name;           // threads have it too, with a number appended
  std::uint32_t threads = 1;  // 1 .. 64
  RelayOptions relay = {};    // in_flight and rate are limits of all threads together

  friend bool operator==(const RelayThreadsOptions&, const RelayThreadsOptions&) = default;
};

/// The same as `check(RelayOptions)`. Besides, there must not be more threads than `in_flight`, nor
/// than `rate` if that is set, because each thread needs at least 1 of each.
[[nodiscard]] Result<void> check(const RelayThreadsOptions& options);

class RelayThreads {
 public:
  using MakeSink = std::function<Result<std::unique_ptr<Sink>>()>;

  /// Called one at a time and (except `on_end`) with a lock of RelayThreads held, so they must not
  /// call RelayThreads.
  struct Hooks {
    /// All threads have paused claiming, or one goes on again. Called on one of the threads. It is
    /// not called if only some threads' breakers are open: such a thread may merely have no message
    /// with which to test the sink. Its failures are still reported.
    std::function<void(bool open, const std::string& last_error)> on_breaker = {};
    /// The store does not answer at least one thread; or, without an error, it answers all threads
    /// again.
    std::function<void(const std::optional<Error>& outage)> on_outage = {};
    /// The same as a relay's hook, for each thread.
    std::function<void(Mishap mishap, const std::string& reason)> on_mishap = {};
    /// The relay's patterns match no queue any more (0), or match some again (the number).
    std::function<void(std::size_t queues)> on_queues = {};
    /// With a coordination. `on_view`: this relay's part of the `units` shards has changed.
    /// `on_trouble`: the coordination cannot be reached, or can be reached again. Both are called
    /// on threads of the coordination, perhaps after `on_end`; `on_trouble` without the lock.
    std::function<void(const Coordination::View& view, std::size_t units)> on_view = {};
    std::function<void(const std::optional<Error>&)> on_trouble = {};
    /// Every thread has ended: with success, or with the first error that the store gave. Called on
    /// one of the threads, as their last call.
    std::function<void(const Result<void>& ended)> on_end = {};
  };

  /// The engine must outlive the threads. The options have been checked. `coordination`: null if no
  /// shards are divided among relays. Errors: those of making the sink.
  [[nodiscard]] static Result<std::unique_ptr<RelayThreads>> make(
      core::Engine& engine, const RelayThreadsOptions& options, const MakeSink& make_sink,
      Hooks hooks, std::unique_ptr<Coordination> coordination = nullptr);
  ~RelayThreads();  // stops the threads, and waits for them
  RelayThreads(const RelayThreads&) = delete;
  RelayThreads& operator=(const RelayThreads&) = delete;

  /// Call `start` once.
  void start();
  /// The threads claim nothing more; the sinks may still confirm the messages that they have.
  void stop();
  /// Call `abandon` after `stop`: the sinks answer at once for all their messages, and requests
  /// that the store does not accept at once are given up.
  void abandon();

  /// Sums over the threads. The breaker's state is closed if it is closed for any thread, and open
  /// only if it is open for all.
  [[nodiscard]] RelayStats stats() const;
  /// Whether the relay was started and has not ended.
  [[nodiscard]] bool is_up() const;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The title of the sink.
  [[nodiscard]] std::string title() const { return members_.front().sink->title(); }

 private:
  struct Member {
    std::unique_ptr<Sink> sink;
    std::unique_ptr<Relay> relay;
  };

  RelayThreads(std::string name, Hooks hooks) : name_(std::move(name)), hooks_(std::move(hooks)) {}
  void work(std::size_t number);
  void breaker(bool open, const std::string& last_error);
  void outage(const std::optional<Error>& outage);
  void mishap(Mishap mishap, const std::string& reason);
  [[nodiscard]] QueueDiscovery::Hooks discovery_hooks();

  const std::string name_;
  const Hooks hooks_;
  std::vector<Member> members_;
  std::stop_source stop_;

  mutable std::mutex mutex_;
  std::size_t open_ = 0;  // members whose breaker is open
  std::size_t away_ = 0;  // members that the store does not answer
  std::size_t running_ = 0;
  std::optional<Error> error_;
  std::vector<std::jthread> threads_;
  std::unique_ptr<QueueDiscovery> discovery_;  // null: the options name all queues
};

}  // namespace tarry::relay
