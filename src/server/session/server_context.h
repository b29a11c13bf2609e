// ServerContext: the state that the fronts and connections of one server share.
//
// Thread safety: the server's thread only, except for `held.answers_sum()` and
// `engine_turns.answered`.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine.h"
#include "server/audit/trail.h"
#include "server/limits/accounts.h"
#include "server/limits/figures.h"
#include "server/limits/rate_bucket.h"
#include "server/metrics/meter.h"
#include "server/session/engine_turns.h"
#include "server/session_parts/clients.h"
#include "server/session_parts/held_bytes.h"
#include "server/session_parts/holders.h"
#include "server/session_parts/log_throttle.h"
#include "server/session_parts/options.h"
#include "server/session_parts/request_log.h"
#include "server/session_parts/token_failures.h"
#include "server/session_parts/turns.h"

namespace tarry::session {

class Connection;

class ServerContext {
 public:
  /// The engine must outlive it.
  ServerContext(core::Engine& asked, Options given);
  ServerContext(const ServerContext&) = delete;
  ServerContext& operator=(const ServerContext&) = delete;

  core::Engine& engine;
  Options options;
  HeldBytes held{options};
  RequestLog requests{options.on_request};
  metrics::Meter meter{engine};
  Holders holders = {};
  audit::Trail trail{options.audit};
  TokenFailures token_failures = {};
  limits::Accounts peers = {};
  limits::Accounts tokens = {};
  limits::RateBucket all_requests = {};
  std::uint64_t waiting_claims = 0;  // of all clients
  EngineTurns engine_turns{*this};
  Turns turns = {};  // for ends of claims
  Turns handshakes{1};
  // Connections without a request; the one that has been idle for the longest is the first.
  std::list<Connection*> idle = {};
  std::function<void(Connection*)> closed = {};       // called once for each connection
  std::function<std::vector<Client>()> clients = {};  // who is connected, in no particular order
  bool draining = false;                              // the server is about to stop
  // True if the engine's latest answer was an error. Either only that request failed, or the engine
  // has stopped; then a health probe asks the engine.
  bool engine_suspect = false;

  /// Counts a refusal. `token`: the name of the client's token; empty if it has none.
  void count_refusal(limits::Limit limit, limits::Scope scope, std::string_view token);
  /// Call it when the tokens have changed: forgets the refusals of tokens that no longer exist.
  void forget_unknown_tokens();
  [[nodiscard]] limits::Figures limit_figures() const;

  /// Makes an id for a request that came without one.
  [[nodiscard]] std::string make_request_id() { return id_prefix_ + std::to_string(++last_id_); }
  void warn(std::string_view code, std::string_view line) const {
    if (options.log) options.log({LogLevel::warning, code, line});
  }
  /// Reports a client whose TLS handshake failed. Clients can cause that as often as they like.
  void handshake_failed(std::string_view address, std::string_view reason);
  /// Counts lines of the audit log, and reports those that were lost.
  void audited(const audit::Trail::Written& written);
  /// Reports a step that failed. Never throws.
  void warn_of(const std::exception& error) noexcept;

 private:
  const std::string id_prefix_;
  std::uint64_t last_id_ = 0;
  LogThrottle failures_ = {};
  limits::Refusals refusals_ = {};
  limits::TokenRefusals token_refusals_ = {};
  LogThrottle handshake_failures_ = {};
  LogThrottle audit_failures_ = {};
};

}  // namespace tarry::session
