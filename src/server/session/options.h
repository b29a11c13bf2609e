// What a server is told for all of its fronts.
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

/// What may be changed while it serves.
struct Limits {
  // Beyond, the one that is idle for the longest is closed; where none is, 503.
  std::size_t max_connections = 10'000;
  std::uint64_t max_body_bytes = 192ull << 20;  // beyond: 413; a full batch in base64 fits
  // Bodies of all connections as far as they have come, a half of this, and answers from when the
  // engine gives them until they are taken, the other; one peer's, a half of either. Where those of
  // others are beyond, 429 to bodies that still come, or to what reads. So none is too large where
  // nothing else is held, and one body more and one answer more may stand there.
  std::uint64_t max_held_bytes = 1ull << 30;
  Millis idle_deadline = std::chrono::minutes(5);  // between requests
};

struct Options : Limits {
  /// Not empty: clients must show it, in the way of their protocol. As base::check_server_token
  /// wants it.
  std::string token = {};
  Millis write_deadline = std::chrono::seconds(30);  // without any progress
  /// Told of what its operator should know. Default: nobody.
  Log log = {};
  /// Told of every request when it is answered. Default: nobody.
  std::function<void(const RequestNote&)> on_request = {};
};

}  // namespace tarry::session
