// Relays: runs the planned relays on one store, until they are stopped.
//
// Thread safety: all members may be called from any thread; `start` only once.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/log.h>
#include <tarry/result.h>

#include "app/relays/relay_plan.h"
#include "core/engine.h"

namespace tarry::app {

/// The log line for a message that the store refused to settle. Relays and `tarry work` use it.
[[nodiscard]] std::string not_settled_line(std::string_view reason);

class Relays {
 public:
  /// Reports for the operator of the relays. Called on threads of the relays.
  struct Hooks {
    /// Gets events: a sink, a coordination or the store became unavailable or available again;
    /// messages fail; patterns match no queue; the part of the queues that this relay serves has
    /// changed.
    Log log;
    /// Called when a relay has ended by itself, or its sink can no longer be used.
    std::function<void(const Error&)> failed;
    /// Called when no relay runs any more. If there are no relays, `start` calls it.
    std::function<void()> ended = {};
  };
  struct Named {
    std::string name;
    relay::RelayStats stats;
    bool up = false;  // false: it has ended
  };

  /// The engine is that of the store at the URL, and must outlive the relays. The plans have been
  /// checked. `children`: options for their commands' processes. Errors: those of making sinks and
  /// coordinations.
  [[nodiscard]] static Result<std::unique_ptr<Relays>> make(
      core::Engine& engine, std::string_view store, const std::vector<RelayPlan>& plans,
      Hooks hooks, const relay::ChildOptions& children = {});
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;
  ~Relays() = default;  // stops the relays, and waits for their end

  void start();
  /// The relays claim nothing more. Each sink may still confirm the messages that it has, for as
  /// long as its relay's `drain`.
  void stop();
  /// Call `abandon` after `stop`: the relays then end without waiting for the sinks.
  void abandon();

  /// One entry per plan, in the order of the plans.
  [[nodiscard]] std::vector<Named> stats() const;

 private:
  explicit Relays(Hooks hooks) : hooks_(std::move(hooks)) {}
  Result<void> add(core::Engine& engine, std::string_view store, const RelayPlan& plan,
                   const relay::ChildOptions& children);
  void ended(const std::string& prefix, const Result<void>& how);

  const Hooks hooks_;
  std::mutex mutex_;
  std::size_t running_ = 0;
  std::vector<std::unique_ptr<relay::RelayThreads>> relays_;
};

}  // namespace tarry::app
