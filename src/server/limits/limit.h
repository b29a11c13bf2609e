// Limit: what a server limits, for whom, and how it tells a client that it is over a limit.
//
// Plain values and pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarry::limits {

enum class Limit : std::uint8_t { connections, held_bytes, requests, waiting_claims };
inline constexpr std::array kLimits = {Limit::connections, Limit::held_bytes, Limit::requests,
                                       Limit::waiting_claims};

/// For whom a limit holds: all clients together, one peer (an address, or the user at the other end
/// of a unix socket), or one token.
enum class Scope : std::uint8_t { total, peer, token };
inline constexpr std::array kScopes = {Scope::total, Scope::peer, Scope::token};

[[nodiscard]] std::string_view to_string(Limit limit) noexcept;
[[nodiscard]] std::string_view to_string(Scope scope) noexcept;
[[nodiscard]] constexpr std::size_t index_of(Limit limit) noexcept {
  return static_cast<std::size_t>(limit);
}
[[nodiscard]] constexpr std::size_t index_of(Scope scope) noexcept {
  return static_cast<std::size_t>(scope);
}

/// A limit's value for each scope; 0: no limit.
struct ByScope {
  std::uint64_t total = 0;
  std::uint64_t peer = 0;
  std::uint64_t token = 0;

  [[nodiscard]] constexpr bool any() const noexcept { return (total | peer | token) != 0; }
  [[nodiscard]] constexpr std::uint64_t of(Scope scope) const noexcept {
    return scope == Scope::total ? total : scope == Scope::peer ? peer : token;
  }
};

/// A limit that a request has reached.
struct Reached {
  Limit limit = Limit::requests;
  Scope scope = Scope::total;
  std::uint64_t value = 0;
  std::string who;                      // the peer or the token; empty for all clients
  std::chrono::seconds retry_after{1};  // rounded up; at least 1
};

/// "the limit of 100 requests a second for token shop is reached (limits.requests_per_token)"
[[nodiscard]] std::string text_of(const Reached& reached);

/// How many connections are answered in addition to a limit of so many; further ones are closed
/// without an answer. At most a quarter of the limit, because a process with few descriptors needs
/// them for other things.
[[nodiscard]] constexpr std::size_t reserve_beside(std::size_t connections) noexcept {
  constexpr std::size_t kMostOnReserve = 100;
  return std::clamp<std::size_t>(connections / 4, 1, kMostOnReserve);
}

/// Counts refusals.
class Refusals {
 public:
  void add(Limit limit, Scope scope) noexcept { ++counts_[index_of(limit)][index_of(scope)]; }
  [[nodiscard]] std::uint64_t of(Limit limit, Scope scope) const noexcept {
    return counts_[index_of(limit)][index_of(scope)];
  }

 private:
  std::array<std::array<std::uint64_t, kScopes.size()>, kLimits.size()> counts_{};
};

}  // namespace tarry::limits
