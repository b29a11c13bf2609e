// Client: what the connections of one client have in common: its address, the token that it has
// shown, and the protocol that it speaks.
//
// Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tarry::session {

struct Client {
  std::string peer;        // its address without the port; for a unix socket, the user
  std::string identity;    // the name of its token; empty if it has shown none
  std::string_view front;  // "http"; lives as long as the program
  std::uint64_t connections = 0;
  std::uint64_t waiting_claims = 0;
  std::uint64_t held_bytes = 0;  // of requests and answers
};

}  // namespace tarry::session
