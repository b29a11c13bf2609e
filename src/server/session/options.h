// A server's options for all of its fronts.
//
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <tarry/log.h>
#include <tarry/time.h>

#include "server/session/request_log.h"

namespace tarry::session {

/// Limits that may change while it serves.
struct Limits {
  // Beyond this number, the connection that has been idle for the longest is closed; if none is
  // idle, 503.
  std::size_t max_connections = 10'000;
  std::uint64_t max_body_bytes = 192ull << 20;  // beyond: 413; a full batch in base64 fits
  // Bodies of all connections as far as they have arrived: a half of this. Answers from when the
  // engine gives them until the client has taken them: the other half. One peer may have half of
  // either. If others hold more than that, 429 to bodies that still arrive, or to requests that
  // read. So none is too large if nothing else is held, and the sum may exceed the limit by one
  // body and one answer.
  std::uint64_t max_held_bytes = 1ull << 30;
  Millis idle_deadline = std::chrono::minutes(5);  // between requests
};

struct Options : Limits {
  /// Not empty: clients must show it, in their protocol's way. Must be valid for
  /// base::check_server_token.
  std::string token = {};
  Millis write_deadline = std::chrono::seconds(30);  // without any progress
  /// Gets messages for the operator. Default: nobody.
  Log log = {};
  /// Called for every answered request. Default: nobody.
  std::function<void(const RequestNote&)> on_request = {};
};

}  // namespace tarry::session
