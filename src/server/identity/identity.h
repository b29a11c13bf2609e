// Identity: who a client is, and what it may do. Every front keeps one for each request, in its
// session; the routes, the log and the limits read it from there.
//
// Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/time.h>

namespace tarry::identity {

/// A kind of verbs that a token may use. None includes another one.
enum class Scope : std::uint8_t {
  read,     // look at queues and messages
  push,     // push, cancel and reschedule messages by their keys
  consume,  // claim, extend and settle messages
  admin,    // change queues, many messages at once, or the store
};
inline constexpr std::array kScopes = {Scope::read, Scope::push, Scope::consume, Scope::admin};

[[nodiscard]] constexpr std::string_view to_string(Scope scope) noexcept {
  switch (scope) {
    case Scope::read: return "read";
    case Scope::push: return "push";
    case Scope::consume: return "consume";
    case Scope::admin: return "admin";
  }
  return "unknown";
}

/// A set of scopes.
class Scopes {
 public:
  constexpr Scopes() = default;
  [[nodiscard]] static constexpr Scopes all() noexcept {
    Scopes every;
    for (const Scope scope : kScopes) every.add(scope);
    return every;
  }

  constexpr void add(Scope scope) noexcept { bits_ |= bit(scope); }
  [[nodiscard]] constexpr bool has(Scope scope) const noexcept { return (bits_ & bit(scope)) != 0; }
  friend bool operator==(const Scopes&, const Scopes&) = default;

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(Scope scope) noexcept {
    return 1u << static_cast<std::uint32_t>(scope);
  }
  std::uint32_t bits_ = 0;
};

struct Identity {
  std::string name;  // of the token; empty if the client sent none
  Scopes scopes;
  std::vector<std::string> queues;  // the patterns (core/rules/queue_pattern.h) of its queues
  std::optional<Time> ends = {};    // the first moment at which the token is refused
  std::string digest = {};          // SHA-256 of the token, in hex; empty if there is none

  /// Whether it has the scope on this queue. The answer does not depend on whether there is such a
  /// queue.
  [[nodiscard]] bool may(Scope scope, std::string_view queue) const noexcept;
  /// Whether it has the scope on every queue, now and later.
  [[nodiscard]] bool may_everywhere(Scope scope) const noexcept;
  [[nodiscard]] bool has_ended(Time now) const noexcept { return ends && *ends <= now; }
  friend bool operator==(const Identity&, const Identity&) = default;
};

using IdentityPtr = std::shared_ptr<const Identity>;

/// The identity of every client while the server requires no token: it may do everything.
[[nodiscard]] const IdentityPtr& anyone();
/// The identity of a client on a route that needs no token: it may do nothing else.
[[nodiscard]] const IdentityPtr& nobody();

/// The clock by which tokens end: the system's, even if the store has a test clock.
[[nodiscard]] Time now();

}  // namespace tarry::identity
