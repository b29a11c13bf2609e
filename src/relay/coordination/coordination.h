// Coordination: divides the shards of queues among the relays that serve these queues. Each relay
// has a session; when a session ends, the other relays get its shards.
//
// It spreads the work, and keeps the order within a shard. Safety does not depend on it. For a
// while two relays may serve the same shard, for example when one is cut off from the coordination
// but not from the store. That is harmless, because claims are atomic and old receipts are refused.
// So a relay that hears nothing from the others keeps its shards.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "relay/coordination/share.h"

namespace tarry::relay {

inline constexpr Millis kDefaultSession{10'000};
inline constexpr Millis kLeastSession{1'000};
inline constexpr Millis kMostSession{600'000};

class Coordination {
 public:
  struct View {
    std::vector<Unit> mine;   // in rising order
    std::size_t members = 0;  // relays in the group, including this one

    friend bool operator==(const View&, const View&) = default;
  };
  /// Called on a thread of the coordination. Hooks may call `offer` and `leave`.
  struct Hooks {
    /// Gets the units of this relay, once they are known and after each change.
    std::function<void(const View&)> on_change;
    /// Without an error: the other relays can be reached again. Otherwise they cannot be reached,
    /// and the error says why.
    std::function<void(const std::optional<Error>&)> on_trouble;
  };

  Coordination() = default;
  Coordination(const Coordination&) = delete;
  Coordination& operator=(const Coordination&) = delete;
  /// Leaves the group, which takes a second or two; if the server is silent, it waits until the
  /// session counts as dead. No hook runs after that.
  virtual ~Coordination() = default;

  /// Call `start` once, before any other function.
  virtual void start(Hooks hooks) = 0;
  /// The units to divide, in rising order. Call it from any thread, each time they change.
  virtual void offer(std::vector<Unit> all) = 0;
  /// Gives up this relay's units, and takes no more. May be called from any thread; does not wait.
  virtual void leave() = 0;
  /// How long a silent relay still counts as alive.
  [[nodiscard]] virtual Millis session() const = 0;
  /// The name in messages: "redis 127.0.0.1:6379".
  [[nodiscard]] virtual std::string title() const = 0;
};

}  // namespace tarry::relay
