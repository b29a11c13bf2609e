// HeldBytes: counts the memory that a server uses for its clients' requests and answers, and limits
// it, for all clients and for each one.
//
// Arriving requests may take one half of `max_held_bytes`, and outgoing answers the other half, so
// that endless bodies cannot stop claims. One peer (an address, or the user at the other end of a
// unix socket) may have at most half of each, unless `held_per_peer` says otherwise, so that it
// cannot stop other clients. One token may have `held_per_token`, half of it for each.
//
// Invariants
//  1. Each of the two sums is the total of the connections' parts and of replies that no connection
//     has taken yet (held_reply.h). So both are 0 if no client is connected and no request is
//     outstanding.
//  2. A request is checked against the bytes of the other connections only. So a single request is
//     accepted, however large, while no other bytes are held.
//  3. The bytes of a connection count for its peer and, from its first request with a token, for
//     that token.
//
// Thread safety: the server's thread only, except for `answers_sum`, to which an engine's thread
// adds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/limits/accounts.h"
#include "server/limits/limit.h"
#include "server/session_parts/options.h"

namespace tarry::session {

/// Even if too much is held, bodies that settle, extend or cancel may come in, up to this many
/// bytes together. If they were refused, finished work would be done again.
inline constexpr std::uint64_t kSettleReserve = 32ull << 20;

/// Why a request is refused: the bytes held for `what` are over the limit.
struct OverLimit {
  std::string what;  // "requests", "answers to 127.0.0.1"
  std::uint64_t limit = 0;
  limits::Scope scope = limits::Scope::total;
  std::string_view of = "half of server.max_held";  // the setting that gives the limit
};

/// The memory of a text besides the string object itself.
[[nodiscard]] std::size_t memory_of(const std::string& text) noexcept;

class HeldBytes {
 private:
  struct Held {
    std::uint64_t requests = 0;  // bodies, as far as they have arrived, until they are answered
    std::uint64_t answers = 0;   // including waiting claims
  };

 public:
  /// The options must outlive it, and may change.
  explicit HeldBytes(const Limits& options) noexcept : options_(options) {}
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }
  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }
  /// The part of `requests` that settles, extends or cancels.
  [[nodiscard]] std::uint64_t settling() const noexcept { return settling_; }
  /// The limit of each sum, requests and answers.
  [[nodiscard]] std::uint64_t limit() const noexcept { return options_.max_held_bytes / 2; }
  /// What one peer and one token may hold of each; of a token 0: no limit.
  [[nodiscard]] std::uint64_t limit_of_peer() const noexcept {
    return options_.held_per_peer == 0 ? limit() / 2 : options_.held_per_peer / 2;
  }
  [[nodiscard]] std::uint64_t limit_of_token() const noexcept {
    return options_.held_per_token / 2;
  }
  [[nodiscard]] std::atomic<std::uint64_t>& answers_sum() noexcept { return answers_; }

  /// The part of one connection.
  class Part {
   public:
    /// The peer's account must outlive it.
    Part(HeldBytes& all, limits::Account& peer) noexcept : all_(all), peer_(&peer) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() { leave(); }

    /// From now on the bytes count for this token, and no longer for another one. The account must
    /// outlive the part, or the next call.
    void set_token(limits::Account& token) noexcept;

    /// `input`: the read buffer, and bytes that were read but are not part of a request yet. Each
    /// call replaces the former values. A request is no longer counted once its answer is held.
    void hold_request(std::uint64_t bytes, std::uint64_t input);
    void hold_answer(std::uint64_t bytes, std::uint64_t input);
    void hold_input(std::uint64_t input);
    /// From now on the request waits at the engine. The `more` bytes that it occupies there count
    /// as bytes of an answer.
    void hold_waiting(std::uint64_t more);
    /// Call it when it is known whether the request settles, extends or cancels. It takes effect
    /// when bytes are held the next time.
    void set_settling(bool settling) noexcept { settles_ = settling; }

    [[nodiscard]] std::optional<OverLimit> requests_over() const;
    /// `more`: bytes of this connection's answer that are not counted in its part yet.
    [[nodiscard]] std::optional<OverLimit> answers_over(std::uint64_t more = 0) const;
    /// Whether a body that settles may come in although too much is held.
    [[nodiscard]] bool may_settle(std::uint64_t body) const noexcept;
    [[nodiscard]] std::uint64_t answers() const noexcept { return counted_.answers; }
    [[nodiscard]] std::uint64_t sum() const noexcept {
      return counted_.requests + counted_.answers;
    }

    /// The connection is closed: from now on it holds nothing.
    void leave();

   private:
    void count();

    HeldBytes& all_;
    limits::Account* peer_;             // null: after `leave`
    limits::Account* token_ = nullptr;  // null: no token has been shown
    std::uint64_t request_ = 0;
    std::uint64_t answer_ = 0;
    std::uint64_t input_ = 0;
    bool settles_ = false;
    Held counted_;  // this part's share of the sums
    std::uint64_t settling_ = 0;
  };

 private:
  [[nodiscard]] OverLimit over(std::string_view what, limits::Scope scope,
                               std::string_view name) const;

  const Limits& options_;
  std::uint64_t requests_ = 0;
  std::atomic<std::uint64_t> answers_{0};
  std::uint64_t settling_ = 0;
};

}  // namespace tarry::session
