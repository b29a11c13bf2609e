// Coordination: several relays that serve the same queues share them, shard by shard. Each has a
// session; when a session ends, the others get its shards.
//
// It spreads work and keeps the order within a shard; safety does not depend on it. For a while two
// relays may both serve a shard (one was stopped, or is cut off from the coordination and not from
// the store). That is harmless: claims are atomic, and fence. So a relay that hears nothing from
// the others keeps the shards that it had.
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
    std::vector<Unit> mine;   // rising
    std::size_t members = 0;  // relays that share, this one among them

    friend bool operator==(const View&, const View&) = default;
  };
  /// Called on a thread of the coordination. They may call `offer` and `leave`.
  struct Hooks {
    /// The units of this relay; called once they are known, and after each change.
    std::function<void(const View&)> on_change;
    /// The others cannot be heard of, and why; or again.
    std::function<void(const std::optional<Error>&)> on_trouble;
  };

  Coordination() = default;
  Coordination(const Coordination&) = delete;
  Coordination& operator=(const Coordination&) = delete;
  /// Leaves, and waits a second or two for that; if a server is silent, until the session counts as
  /// dead. No hook runs from then on.
  virtual ~Coordination() = default;

  /// Once, before any other function.
  virtual void start(Hooks hooks) = 0;
  /// The units to be shared, in rising order. From any thread, as often as it changes.
  virtual void offer(std::vector<Unit> all) = 0;
  /// Gives back its units and takes no more. From any thread; does not wait.
  virtual void leave() = 0;
  /// How long a silent relay still counts as alive.
  [[nodiscard]] virtual Millis session() const = 0;
  /// "redis 127.0.0.1:6379": for messages.
  [[nodiscard]] virtual std::string title() const = 0;
};

}  // namespace tarry::relay
