// QueueDiscovery: finds the queues that a relay serves. Every 5 s it finds out which queues match
// the relay's names and patterns, and how many shards they have. With a coordination, it offers
// these shards to the coordination, which says which of them this relay gets.
//
// A queue given by name is served from the beginning, even if it does not exist yet. With a
// coordination, it is served once this relay's part is known. If a whole session time passes
// without news of the other relays, this relay serves all shards; that is safe, because a claim is
// atomic and old receipts are refused.
//
// Thread safety: call `start` once; all other functions may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <tarry/result.h>
#include <tarry/settings.h>
#include <tarry/time.h>

#include "core/engine.h"
#include "relay/coordination/coordination.h"
#include "relay/coordination/share.h"

namespace tarry::relay {

/// How often a relay looks for queues.
inline constexpr Millis kLookEvery{5'000};

/// Sorted by name: the existing queues that match the names and patterns, and the named queues that
/// do not exist.
[[nodiscard]] std::vector<Found> find_queues(const std::vector<std::string>& patterns,
                                             const std::vector<QueueStats>& there);

class QueueDiscovery {
 public:
  /// Called on threads of the discovery and of the coordination. Except for `on_trouble`, they are
  /// called with the discovery's lock held, and so one at a time. They must not call the discovery.
  struct Hooks {
    std::function<void(const std::vector<Share>&)> on_shares;
    /// The patterns match no queue any more (0), or match some again (how many).
    std::function<void(std::size_t queues)> on_queues;
    /// This relay's part, or the number of relays in the group, has changed.
    std::function<void(const Coordination::View& view, std::size_t units)> on_view;
    /// The same as Coordination's hook.
    std::function<void(const std::optional<Error>&)> on_trouble;
    /// The store was closed.
    std::function<void()> on_closed;
  };

  /// The engine must outlive the discovery. `coordination`: null if this relay serves all shards.
  QueueDiscovery(core::Engine& engine, std::vector<std::string> patterns,
                 std::unique_ptr<Coordination> coordination, Hooks hooks,
                 Millis every = kLookEvery);
  ~QueueDiscovery();
  QueueDiscovery(const QueueDiscovery&) = delete;
  QueueDiscovery& operator=(const QueueDiscovery&) = delete;

  void start();
  /// Gives this relay's part to the others. After that only `on_trouble` is called.
  void leave();
  /// Why the last search for queues failed; empty if it succeeded.
  [[nodiscard]] std::string last_error() const;

 private:
  // Receives the engine's answer, however late it comes.
  struct Answer {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::optional<Result<std::vector<QueueStats>>> queues;
  };

  void run(const std::stop_token& stop);
  void look(const std::stop_token& stop);
  void take(const Result<std::vector<QueueStats>>& queues);
  void tell();

  core::Engine& engine_;
  const std::vector<std::string> patterns_;
  const Hooks hooks_;
  const Millis every_;

  mutable std::mutex mutex_;
  std::condition_variable_any over_;  // is never notified; only a stop ends its waits
  std::optional<std::vector<Found>> found_;
  std::optional<Coordination::View> view_;
  std::optional<std::vector<Share>> told_;
  bool told_of_none_ = false;
  bool left_ = false;
  std::string last_error_;
  using Clock = std::chrono::steady_clock;
  Clock::time_point deaf_at_{};  // if no view has come by then, the relay serves everything

  std::unique_ptr<Coordination> coordination_;
  std::jthread thread_;
};

}  // namespace tarry::relay
