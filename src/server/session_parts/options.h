// A server's options for all of its fronts.
//
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <tarry/log.h>
#include <tarry/time.h>

#include "server/audit/trail.h"
#include "server/identity/tokens.h"
#include "server/limits/limit.h"
#include "server/listening/tls_context.h"
#include "server/session_parts/request_log.h"

namespace tarry::session {

/// Limits that may change while the server runs.
struct Limits {
  // If there are more, the connection that has been idle for the longest is closed. If none is
  // idle, requests on the new connection get 503.
  std::size_t max_connections = 10'000;
  std::uint64_t max_body_bytes = 192ull << 20;  // larger: 413; a full batch in base64 fits
  // Memory for requests and answers. One half is for bodies, as far as they have arrived. The other
  // half is for answers, from the engine's reply until the client has taken them. If other
  // connections hold more than that, bodies that still arrive, and requests that read, get 429. A
  // connection's own bytes do not count for this: a single body or answer is never too large, but
  // the sum may exceed the limit by one body and one answer.
  std::uint64_t max_held_bytes = 1ull << 30;
  // Connections of one peer, and of one token; 0: no limit. Above it, requests on a new connection
  // get 429.
  std::size_t connections_per_peer = 0;
  std::size_t connections_per_token = 0;
  // As max_held_bytes, of one peer and of one token. 0: of a peer half of max_held_bytes, of a
  // token no limit.
  std::uint64_t held_per_peer = 0;
  std::uint64_t held_per_token = 0;
  // Requests a second, and claims that wait, of all clients, of one peer and of one token; 0: no
  // limit. Above it, 429. Requests that settle, extend, cancel or probe are counted, but never
  // refused.
  limits::ByScope requests_per_second = {};
  limits::ByScope waiting_claims = {};
  Millis idle_deadline = std::chrono::minutes(5);  // between two requests
};

struct Options : Limits {
  /// If tokens are required, clients must send one, in the way of their protocol.
  identity::Tokens tokens = {};
  /// The clock by which tokens end.
  std::function<Time()> token_clock = identity::now;
  Millis write_deadline = std::chrono::seconds(30);      // how long a write may make no progress
  Millis handshake_deadline = std::chrono::seconds(10);  // how long TLS's handshake may take
  /// If not null, clients at ports must speak TLS. At unix sockets they never do.
  listening::TlsContext tls = {};
  /// The audit log; null: there is none.
  audit::FilePtr audit = {};
  /// Called with events for the operator. By default they are dropped.
  Log log = {};
  /// Called for every answered request. Empty by default.
  std::function<void(const RequestNote&)> on_request = {};
};

}  // namespace tarry::session
