// RelayThreads: one relay by its name, on as many threads as it was given. Each thread has a sink
// of its own and claims for itself; what is bounded for the relay as a whole is divided among them.
//
// Order: each thread keeps the order of what it claims; among several there is none.
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

struct RelayThreadsOptions {
  std::string name;           // its threads are called so, with a number behind
  std::uint32_t threads = 1;  // 1 .. 64
  RelayOptions relay = {};    // in_flight and rate: of all threads together

  friend bool operator==(const RelayThreadsOptions&, const RelayThreadsOptions&) = default;
};

/// As `check(RelayOptions)`, and: no more threads than in_flight, nor than the rate where there is
/// one, since each thread needs one of both.
[[nodiscard]] Result<void> check(const RelayThreadsOptions& options);

class RelayThreads {
 public:
  using MakeSink = std::function<Result<std::unique_ptr<Sink>>()>;

  /// One at a time, with a lock of these threads held but for `on_end`: they must not call it.
  struct Hooks {
    /// Claiming rests on all threads, or no longer does; on a thread of these threads. One whose
    /// breaker is open while others work is shown by its failures alone: it may have no message
    /// to find out with that the sink is back.
    std::function<void(bool open, const std::string& last_error)> on_breaker = {};
    /// The store does not answer one thread at least; or, empty, it answers all again.
    std::function<void(const std::optional<Error>& outage)> on_outage = {};
    /// As a relay's, of each thread.
    std::function<void(Mishap mishap, const std::string& reason)> on_mishap = {};
    /// Its patterns match no queue, or some again: 0, or how many.
    std::function<void(std::size_t queues)> on_queues = {};
    /// Where relays share: what falls to this one of so many shards; and those it shares with
    /// cannot be heard of, or can again. On threads of the coordination, which may be after
    /// `on_end`; `on_trouble` without the lock.
    std::function<void(const Coordination::View& view, std::size_t units)> on_view = {};
    std::function<void(const std::optional<Error>&)> on_trouble = {};
    /// Every thread has come to its end, by `stop` or by itself: by success, or with the first
    /// error that the store gave. On a thread of these threads, the last call of all.
    std::function<void(const Result<void>& ended)> on_end = {};
  };

  /// The engine outlives the threads; the options have been checked. `coordination`: null where the
  /// relay has its queues for itself, or shares them claim by claim. Errors: the sink's.
  [[nodiscard]] static Result<std::unique_ptr<RelayThreads>> make(
      core::Engine& engine, const RelayThreadsOptions& options, const MakeSink& make_sink,
      Hooks hooks, std::unique_ptr<Coordination> coordination = nullptr);
  ~RelayThreads();  // stops, and waits for the threads
  RelayThreads(const RelayThreads&) = delete;
  RelayThreads& operator=(const RelayThreads&) = delete;

  /// Once.
  void start();
  /// Claims nothing more; what the sinks have may be confirmed.
  void stop();
  /// After `stop`: the sinks answer at once for what they have, and what the store does not take
  /// at once is given up.
  void abandon();

  /// Sums; the breaker is the best of the threads'.
  [[nodiscard]] RelayStats stats() const;
  /// It was started, and works: nothing has ended it.
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
