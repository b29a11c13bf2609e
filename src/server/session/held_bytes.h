// HeldBytes: how much memory a server keeps for its clients, and how much of it one client may
// have.
//
// Arriving requests and outgoing answers each have a half of `max_held_bytes`, so that bodies that
// never end stop no claim. One peer (an address, or the user at the other end of a unix socket) may
// have at most half of each, so that one client stops no other.
//
// Invariants
//  1. Each sum is the total of the connections' parts and of replies that no connection has looked
//     at yet (held_reply.h); so both are 0 if no client is connected and no request is outstanding.
//  2. A connection's own part is not compared with the limit: nothing is too large if nothing else
//     is held.
//  3. A peer is known while it has connections.
//
// Thread safety: the server's thread only, except for `answers_sum`, to which an engine's thread
// adds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "server/session/options.h"

namespace tarry::session {

/// While too much is held, bodies that settle, extend or cancel may still come in, up to this many
/// bytes together: without them, finished work would be done again.
inline constexpr std::uint64_t kSettleReserve = 32ull << 20;

/// Why a request is refused: the sum of all `what` that are held is over the limit.
struct OverLimit {
  std::string what;  // "requests", "answers to 127.0.0.1"
  std::uint64_t limit = 0;
};

/// The memory of a text besides the string object itself.
[[nodiscard]] std::size_t memory_of(const std::string& text) noexcept;

class HeldBytes {
 private:
  struct Held {
    std::uint64_t requests = 0;  // bodies, as far as they have come, until they are answered
    std::uint64_t answers = 0;   // and claims that wait
  };
  struct Peer {
    std::string name;  // "127.0.0.1"
    std::size_t connections = 0;
    Held held = {};
  };

 public:
  /// The limits outlive it, and may change.
  explicit HeldBytes(const Limits& limits) noexcept : limits_(limits) {}
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }
  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }
  /// Of the requests: those that settle, extend or cancel.
  [[nodiscard]] std::uint64_t settling() const noexcept { return settling_; }
  /// For requests, and for answers.
  [[nodiscard]] std::uint64_t limit() const noexcept { return limits_.max_held_bytes / 2; }
  [[nodiscard]] std::atomic<std::uint64_t>& answers_sum() noexcept { return answers_; }

  /// One connection's.
  class Part {
   public:
    Part(HeldBytes& all, const std::string& peer);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() { leave(); }

    /// `input`: bytes read that are not a request yet, and the read buffer. Each call replaces the
    /// former values; a request ends once its answer is held.
    void hold_request(std::uint64_t bytes, std::uint64_t input);
    void hold_answer(std::uint64_t bytes, std::uint64_t input);
    void hold_input(std::uint64_t input);
    /// The request waits at the engine from now on, and takes `more` bytes besides, which count as
    /// an answer.
    void hold_waiting(std::uint64_t more);
    /// Whether the request settles, extends or cancels: from the next count on.
    void set_settling(bool settling) noexcept { settles_ = settling; }

    [[nodiscard]] std::optional<OverLimit> requests_over() const;
    /// `more`: of this connection's, that is not counted in it yet.
    [[nodiscard]] std::optional<OverLimit> answers_over(std::uint64_t more = 0) const;
    /// Whether a body that settles may come in all the same.
    [[nodiscard]] bool may_settle(std::uint64_t body) const noexcept;
    [[nodiscard]] std::uint64_t answers() const noexcept { return counted_.answers; }

    /// The connection is closed: nothing is held, now or later.
    void leave();

   private:
    void count();

    HeldBytes& all_;
    Peer* peer_;  // null: has left
    std::uint64_t request_ = 0;
    std::uint64_t answer_ = 0;
    std::uint64_t input_ = 0;
    bool settles_ = false;
    Held counted_;  // our part of the sums
    std::uint64_t settling_ = 0;
  };

 private:
  const Limits& limits_;
  std::uint64_t requests_ = 0;
  std::atomic<std::uint64_t> answers_{0};
  std::uint64_t settling_ = 0;
  std::unordered_map<std::string, Peer> peers_;
};

}  // namespace tarry::session
