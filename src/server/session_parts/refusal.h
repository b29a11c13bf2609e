// Refusal: why a session refuses a request. The front tells the client in the terms of its
// protocol.
//
// Plain values.
#pragma once

#include <cstdint>

#include "server/limits/limit.h"
#include "server/session_parts/held_bytes.h"

namespace tarry::session {

struct Refusal {
  enum class Why : std::uint8_t {
    too_many_connections,  // over `Limits::max_connections`, and this request may not pass
    token_not_valid,       // any more: replaced or ended while the request waited or arrived
    too_much_held,         // `over` says which bytes
    over_limit,            // `reached` says which limit
    no_memory,             // nothing was done
    late,                  // the request did not arrive in time
    closing,               // the server stops, and the claim has got no message
  };
  Why why;
  OverLimit over = {};
  limits::Reached reached = {};
};

}  // namespace tarry::session
