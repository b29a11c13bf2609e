// Coordination: several relays that serve the same queues share them, shard by shard. Each has a
// session; what one has whose session ends goes to the others.
//
// It spreads work, and keeps the order within a shard; safety does not hang on it. That two relays
// take a shard to be theirs for a while (one that was stopped, or cut off from the coordination and
// not from the store) is harmless: claims are atomic, and fence. So a relay that does not hear of
// the others goes on with what it had.
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
  /// On a thread of the coordination. They may call `offer` and `leave`.
  struct Hooks {
    /// What is this one's now; from the first time that is known.
    std::function<void(const View&)> on_change;
    /// The others cannot be heard of, and why; or again.
    std::function<void(const std::optional<Error>&)> on_trouble;
  };

  Coordination() = default;
  Coordination(const Coordination&) = delete;
  Coordination& operator=(const Coordination&) = delete;
  /// Leaves, waiting for that a second or two; where a server is silent, until it is taken for
  /// dead, which is within a session. No hook runs from then on.
  virtual ~Coordination() = default;

  /// Once, before everything else.
  virtual void start(Hooks hooks) = 0;
  /// What there is to be shared, rising. From any thread, as often as it changes.
  virtual void offer(std::vector<Unit> all) = 0;
  /// Gives back what it has, and takes nothing any more. From any thread; does not wait.
  virtual void leave() = 0;
  /// After what silence one of them has ended.
  [[nodiscard]] virtual Millis session() const = 0;
  /// "redis 127.0.0.1:6379": for messages.
  [[nodiscard]] virtual std::string title() const = 0;
};

}  // namespace tarry::relay
