// RelayThreads: one relay by its name, on the configured number of threads. Each thread has a sink
// of its own and claims for itself; the relay's limits are divided among them.
//
// Order: each thread keeps the order of the messages that it claims; between threads there is no
// order.
//
// Thread safety: `stats`, `is_up`, `stop` and `abandon` from any thread; the rest from one.
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

/// The sum of what two relays, or two runs of one, have done.
void add(RelayStats& sum, const RelayStats& one);

struct RelayThreadsOptions {
  std::string name;           // also the threads' names, with a number appended
  std::uint32_t threads = 1;  // 1 .. 64
  RelayOptions relay = {};    // in_flight and rate: of all threads together

  friend bool operator==(const RelayThreadsOptions&, const RelayThreadsOptions&) = default;
};

/// As `check(RelayOptions)`, and: no more threads than in_flight, nor than the rate if there is
/// one, because each thread needs one of both.
[[nodiscard]] Result<void> check(const RelayThreadsOptions& options);

class RelayThreads {
 public:
  using MakeSink = std::function<Result<std::unique_ptr<Sink>>()>;

  /// Called one at a time, with a lock of these threads held (except for `on_end`), so they must
  /// not call RelayThreads.
  struct Hooks {
    /// Claiming has paused on all threads, or goes on; called on a thread of these threads. If one
    /// thread's breaker is open while others work, only its failures show that: it may have no
    /// message with which to test the sink.
    std::function<void(bool open, const std::string& last_error)> on_breaker = {};
    /// The store does not answer one thread at least; or, empty, it answers all again.
    std::function<void(const std::optional<Error>& outage)> on_outage = {};
    /// As a relay's, for each thread.
    std::function<void(Mishap mishap, const std::string& reason)> on_mishap = {};
    /// Its patterns match no queue any more (0), or some again (how many).
    std::function<void(std::size_t queues)> on_queues = {};
    /// If relays share: this relay's part of `units` shards has changed. The other hook: the
    /// coordination cannot be reached, or can again. Called on threads of the coordination, perhaps
    /// after `on_end`; `on_trouble` without the lock.
    std::function<void(const Coordination::View& view, std::size_t units)> on_view = {};
    std::function<void(const std::optional<Error>&)> on_trouble = {};
    /// Every thread has come to its end, by `stop` or by itself: by success, or with the first
    /// error that the store gave. On a thread of these threads, the last call of all.
    std::function<void(const Result<void>& ended)> on_end = {};
  };

  /// The engine outlives the threads; the options have been checked. `coordination`: null if the
  /// relay has its queues for itself, or shares them claim by claim. Errors: the sink's.
  [[nodiscard]] static Result<std::unique_ptr<RelayThreads>> make(
      core::Engine& engine, const RelayThreadsOptions& options, const MakeSink& make_sink,
      Hooks hooks, std::unique_ptr<Coordination> coordination = nullptr);
  ~RelayThreads();  // stops, and waits for the threads
  RelayThreads(const RelayThreads&) = delete;
  RelayThreads& operator=(const RelayThreads&) = delete;

  /// Once.
  void start();
  /// Claims nothing more; the sinks may still confirm the messages that they have.
  void stop();
  /// After `stop`: the sinks answer at once for their messages, and requests that the store does
  /// not accept at once are given up.
  void abandon();

  /// Sums; the breaker is the best of the threads'.
  [[nodiscard]] RelayStats stats() const;
  /// It was started and works: it has not ended.
  [[nodiscard]] bool is_up() const;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The sink's.
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
  std::size_t open_ = 0;  // members whose breaker is
  std::size_t away_ = 0;  // members whose store is
  std::size_t running_ = 0;
  std::optional<Error> error_;
  std::vector<std::jthread> threads_;
  std::unique_ptr<QueueDiscovery> discovery_;  // null: the names say all
};

}  // namespace tarry::relay
