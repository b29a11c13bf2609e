// TokenFailures: how often each peer was refused because its token was missing, unknown or ended
// (401). A peer with too many such refusals is told to slow down (429), so that a client with a
// wrong token does not keep the server and its log busy. A valid token is always accepted: other
// clients may have the same address, and no token can be guessed.
//
// Invariants
//  1. It keeps at most kMostPeers peers. The peer whose latest refusal is the oldest is forgotten
//     first.
//
// Thread safety: none; the server's thread owns it.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tarry::session {

class TokenFailures {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kMostFailures = 200;  // of a peer, until it gets 429
  static constexpr std::size_t kMostPeers = 4'096;
  static constexpr std::chrono::seconds kForgottenEach{1};  // one failure of a peer

  /// Notes a failure. True: the peer has had kMostFailures already; this failure is not counted.
  [[nodiscard]] bool too_many(std::string_view peer, Clock::time_point now);

  [[nodiscard]] std::size_t peers() const noexcept { return peers_.size(); }

 private:
  struct Peer {
    std::string name;
    std::size_t failures = 0;
    Clock::time_point counted_from;  // failures are forgotten from then on
  };
  using Peers = std::list<Peer>;

  [[nodiscard]] Peer& latest(std::string_view peer, Clock::time_point now);

  Peers peers_;  // the peer with the latest failure comes first
  std::unordered_map<std::string_view, Peers::iterator> places_;  // keys are the names in peers_
};

}  // namespace tarry::session
