// Held: what a server keeps in memory for its clients, and how much of it one client may have.
//
// Requests on their way in and answers on their way out have a half of `max_held` each, so that
// bodies that never end stop no claim. Of each half one peer (an address, or the user at the other
// end of a unix socket) has a half at most, so that one client stops no other. What a connection
// holds itself is not compared: nothing is too large where nothing else is held.
//
// Thread safety: the server's thread only, but for `answers`, to which an engine's thread adds.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace tarry::session {

/// Of `max_held`, for requests as for answers.
inline constexpr std::uint64_t kHeldShare = 2;
/// Of that, for one peer.
inline constexpr std::uint64_t kPeerShare = 2;

struct Held {
  std::uint64_t requests = 0;  // bodies, as far as they have come, until they are answered
  std::uint64_t answers = 0;   // and claims that wait
};

struct Peer {
  std::string name;  // "127.0.0.1"
  std::size_t connections = 0;
  Held held = {};
};

/// By name; a peer is there while it has connections.
using Peers = std::unordered_map<std::string, Peer>;

}  // namespace tarry::session
