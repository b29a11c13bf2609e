// Turns a request from a client into a request to the engine, or into an immediate answer. There
// are no sockets here, so a route can be tested as a function.
//
// Thread safety: pure functions, which only read `Service`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "base/unique_function.h"
#include "core/engine.h"
#include "core/reply.h"
#include "core/request.h"
#include "net/http/http_message.h"
#include "server/audit/act.h"
#include "server/audit/entry.h"
#include "server/audit/trail.h"
#include "server/console/sessions.h"
#include "server/http/handlers/response.h"
#include "server/http/handlers/rights.h"
#include "server/http_session/options.h"
#include "server/identity/identity.h"
#include "server/limits/figures.h"
#include "server/metrics/meter.h"
#include "server/metrics/relay_figures.h"
#include "server/metrics/schedule_figures.h"
#include "server/session_parts/check.h"
#include "server/session_parts/clients.h"
#include "server/session_parts/holders.h"
#include "wire/parts/query.h"

namespace tarry::http {

/// The server's description of itself.
struct Service {
  core::Capabilities capabilities;
  std::function<void(std::int64_t)> advance_clock;  // empty: no such route
  // True if the engine's latest answer was an error. Either only that request failed, or the engine
  // has stopped; then /healthz asks the engine. Otherwise /healthz answers at once, without waiting
  // for a disk.
  bool engine_suspect = false;
  std::function<Result<void>(std::int64_t)> step_clock = {};  // empty: no such route
  // The server's own figures for /metrics; null: none.
  metrics::Meter* meter = nullptr;
  std::function<Time()> now = {};  // the store's clock; empty: the system's
  bool draining = false;           // the server is about to stop
  std::function<std::vector<metrics::RelayFigures>()> relays = {};  // for /metrics; empty: none
  std::function<metrics::ScheduleFigures()> schedules = {};         // for /metrics; empty: none
  std::function<limits::Figures()> limits = {};                     // for /metrics; empty: none
  session::Holders* holders = nullptr;       // records claims, and is asked by get; null: none
  console::Sessions* sessions = nullptr;     // of the console; null: none
  const identity::Tokens* tokens = nullptr;  // for the console's login; null: none is required
  std::function<Time()> token_clock = {};    // not empty if there are sessions
  const audit::Trail* trail = nullptr;       // the audit log; null: none
  std::function<std::vector<session::Client>()> clients = {};  // who is connected; empty: unknown
};

/// The client that sent a request.
struct Caller {
  identity::IdentityPtr identity;  // never null
  std::string_view peer = {};      // its address
  bool is_encrypted = false;       // it speaks TLS, or uses a unix socket
};

/// A request's parts, as a handler sees them.
struct Asked {
  const Service& service;
  // It has the scope that the route needs. The handler checks the queues in the body.
  const identity::IdentityPtr& identity;
  std::string name;  // of a queue, schedule, session or file, from the path, decoded; may be empty
  wire::Query query;
  std::string body;
  std::string_view peer;            // the client's address
  const std::string* user_agent;    // as sent; null if there is none
  const net::HttpMessage& message;  // without its body
  bool is_encrypted = false;        // Caller::is_encrypted
};

using MakeResponse = base::UniqueFunction<Response(core::Reply&)>;

using session::Check;

struct Submission;
using Routed = std::variant<Response, Submission>;

struct Submission {
  core::Request request;
  MakeResponse answer;  // makes the response from the engine's reply
  Check check = Check::none;
  // If set, it gets the result before `answer`, and may return three things. A submission is a
  // second request, which goes to the engine in place of this one. A response goes to the client.
  // After nothing, `answer` gets the reply.
  base::UniqueFunction<std::optional<Routed>(Result<core::Reply>&)> then = {};
  // For the audit log: the act, if it takes several requests (wire::bulk); and how many items of
  // the body could not be read.
  std::unique_ptr<audit::Entry> act = {};
  std::size_t unreadable = 0;
};

using http_session::kNoRoute;

/// Routes a request. It answers 404, 405, 400, 403 and 415 itself, and takes the message's body. It
/// sets `pattern` to the pattern of the route that took the request ("/v1/queues/*/messages") or to
/// kNoRoute; the text lives as long as the program.
[[nodiscard]] Routed route(const Service& service, net::HttpMessage& message,
                           std::string_view& pattern, const Caller& caller);

/// Whether a GET of that path needs no token, because it shows nothing of the store's contents.
[[nodiscard]] bool is_open(std::string_view path);

/// Whether the request is the console's login, which needs no token yet.
[[nodiscard]] bool is_login(const net::HttpMessage& message);

/// Whether the request's route settles, extends or cancels, so that less work is left after it.
[[nodiscard]] bool leaves_less_work(const net::HttpMessage& message);

struct RouteAct {
  audit::Act act;
  std::string queue;          // from the path, decoded; empty if it cannot be decoded
  std::string schedule = {};  // the same
  std::string session = {};   // the same
};
/// The act of the request's route, for the audit log; nullopt if the route has none.
[[nodiscard]] std::optional<RouteAct> act_of_route(const net::HttpMessage& message);

struct RouteName {
  std::string_view method;
  std::string_view pattern;
  Need need;
};
/// All routes that `route` knows but the console's, to compare them with their description.
[[nodiscard]] std::vector<RouteName> route_names();

/// For the handlers: a submission whose `make` gets the reply as the kind that belongs to the
/// request.
template <typename Reply, typename Make>
[[nodiscard]] Routed ask(core::Request request, Make make) {
  return Submission{std::move(request),
                    [make = std::move(make)](core::Reply& reply) mutable {
                      auto* fitting = std::get_if<Reply>(&reply);
                      if (fitting != nullptr) return Response(make(*fitting));
                      return problem(500, ErrorCode::misuse,
                                     "the engine's answer does not fit the request");
                    },
                    Check::none,
                    {},
                    {}};
}

/// The same for a request that may not decode: then the answer is its problem.
template <typename Reply, typename Request, typename Make>
[[nodiscard]] Routed ask(Result<Request> request, Make make) {
  if (!request) return problem(request.error());
  return ask<Reply>(core::Request(*std::move(request)), std::move(make));
}

}  // namespace tarry::http
