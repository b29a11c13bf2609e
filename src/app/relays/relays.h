// Relays: runs the planned relays on one store, until they are stopped.
//
// Thread safety: all members from any thread; `start` once.
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

/// Why the store refused to settle a message; of relays and of `tarry work`.
[[nodiscard]] std::string not_settled_line(std::string_view reason);

class Relays {
 public:
  /// Reports for their operator. Called on threads of the relays.
  struct Hooks {
    /// Hears that a sink, a coordination or the store went or came back, that messages fail, that
    /// patterns match nothing, and which share falls to this relay.
    Log log;
    /// A relay has ended by itself, or its sink is of no use any more.
    std::function<void(const Error&)> failed;
    /// No relay runs any more; if there are none, called from `start`.
    std::function<void()> ended = {};
  };
  struct Named {
    std::string name;
    relay::RelayStats stats;
    bool up = false;  // false: it has ended
  };

  /// The engine, of the store of that URL, outlives them. The plans have been checked. `children`:
  /// of their commands. Errors: the sinks', the coordinations'.
  [[nodiscard]] static Result<std::unique_ptr<Relays>> make(
      core::Engine& engine, std::string_view store, const std::vector<RelayPlan>& plans,
      Hooks hooks, const relay::ChildOptions& children = {});
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;
  ~Relays() = default;  // stops them, and waits

  void start();
  /// They claim nothing more; the sinks may still confirm the messages that they have, each within
  /// its `drain`.
  void stop();
  /// After `stop`: nothing is waited for any more.
  void abandon();

  /// In the order of the plans.
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
