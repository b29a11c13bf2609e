#include "server/http/handlers/routes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "server/http/handlers/handlers.h"
#include "wire/parts/problem.h"

namespace tarry::http {
namespace {

using audit::Act;
using Handler = Routed (*)(Asked&);

struct Route {
  std::string_view method;
  std::string_view pattern;  // "*" stands for the name of a queue, a schedule or a session
  Handler handler;
  Need need;
  std::optional<Act> act = {};  // for the audit log; an act of `settle` is known by its body alone
  bool leaves_less = false;     // see `leaves_less_work`
};

using identity::Scope;
constexpr std::optional<Act> kNoAct;
constexpr std::string_view kSchedules = "/v1/schedules";
constexpr std::string_view kSessions = "/v1/sessions";
constexpr std::string_view kConsole = "/console";
constexpr std::string_view kLogin = "/console/login";

constexpr std::array kRoutes = {
    Route{"POST", "/v1/claim", claim, {Scope::consume, Reach::body}},
    Route{"POST", "/v1/settle", settle, {Scope::consume, Reach::receipts}, kNoAct, true},
    Route{"POST", "/v1/extend", extend, {Scope::consume, Reach::receipts}, kNoAct, true},
    Route{"POST", "/v1/queues/*/messages", push, {Scope::push, Reach::path}},
    Route{"POST", "/v1/queues/*/push", push_many, {Scope::push, Reach::path}},
    Route{"GET", "/v1/queues/*/messages", list, {Scope::read, Reach::path}},
    Route{"GET", "/v1/queues/*/message", get_one, {Scope::read, Reach::path}},
    Route{"POST", "/v1/queues/*/get", get_many, {Scope::read, Reach::path}},
    Route{"GET", "/v1/queues/*/why", why, {Scope::read, Reach::path}},
    Route{"GET", "/v1/queues/*/history", history, {Scope::read, Reach::path}},
    Route{"POST", "/v1/queues/*/cancel", cancel, {Scope::push, Reach::path}, Act::cancel, true},
    Route{
        "POST", "/v1/queues/*/reschedule", reschedule, {Scope::push, Reach::path}, Act::reschedule},
    Route{"POST", "/v1/queues/*/bulk", bulk, {Scope::admin, Reach::path}, Act::bulk},
    Route{"POST",
          "/v1/queues/*/import",
          import_messages,
          {Scope::admin, Reach::path},
          Act::import_messages},
    Route{"POST", "/v1/queues/*/move-away", move_away, {Scope::admin, Reach::path}, Act::move_away},
    Route{"GET", "/v1/queues", queue_list, {Scope::read, Reach::answer}},
    Route{"GET", "/v1/queues/*", queue_info, {Scope::read, Reach::path}},
    Route{"PUT", "/v1/queues/*", configure, {Scope::admin, Reach::path}, Act::configure},
    Route{"DELETE", "/v1/queues/*", remove_queue, {Scope::admin, Reach::path}, Act::remove},
    Route{"POST", "/v1/queues/*/pause", pause, {Scope::admin, Reach::path}, Act::pause},
    Route{"POST", "/v1/queues/*/resume", resume, {Scope::admin, Reach::path}, Act::resume},
    Route{"POST", "/v1/queues/*/purge", purge, {Scope::admin, Reach::path}, Act::purge},
    Route{"POST", "/v1/queues/*/revive", revive, {Scope::admin, Reach::path}, Act::revive},
    Route{"POST", "/v1/queues/*/reshard", reshard, {Scope::admin, Reach::path}, Act::reshard},
    Route{"GET", "/v1/queues/*/forecast", forecast, {Scope::read, Reach::path}},
    Route{"GET", kSchedules, list_schedules, {Scope::read, Reach::answer}},
    Route{"GET", "/v1/schedules/*", get_schedule, {Scope::read, Reach::schedule}},
    Route{
        "PUT", "/v1/schedules/*", put_schedule, {Scope::admin, Reach::schedule}, Act::put_schedule},
    Route{"DELETE",
          "/v1/schedules/*",
          remove_schedule,
          {Scope::admin, Reach::schedule},
          Act::remove_schedule},
    Route{"POST",
          "/v1/schedules/*/pause",
          pause_schedule,
          {Scope::admin, Reach::schedule},
          Act::pause_schedule},
    Route{"POST",
          "/v1/schedules/*/resume",
          resume_schedule,
          {Scope::admin, Reach::schedule},
          Act::resume_schedule},
    Route{"POST",
          "/v1/schedules/*/run",
          run_schedule,
          {Scope::push, Reach::schedule},
          Act::run_schedule},
    Route{"POST", "/v1/occurrences", list_occurrences, {Scope::read, Reach::known}},
    Route{"GET", "/v1/clients", list_clients, {Scope::admin, Reach::store}},
    Route{"GET", "/v1/audit", list_acts, {Scope::admin, Reach::store}},
    Route{"GET", kSessions, list_sessions, {Scope::admin, Reach::store}},
    Route{"DELETE", "/v1/sessions/*", end_session, {Scope::admin, Reach::store}, Act::end_session},
    Route{"GET", "/v1/stats", stats, {Scope::read, Reach::answer}},
    Route{"GET", "/", about, {Scope::read, Reach::open}},
    Route{"GET", "/healthz", health, {Scope::read, Reach::open}},
    Route{"GET", "/readyz", ready, {Scope::read, Reach::open}},
    Route{"GET", "/metrics", metrics_page, {Scope::read, Reach::answer}},
    Route{"GET", "/v1/openapi.json", openapi, {Scope::read, Reach::known}},
    Route{"POST", "/v1/clock/advance", advance_clock, {Scope::admin, Reach::store}},
    Route{"POST", "/v1/clock/suspend", advance_clock, {Scope::admin, Reach::store}},
    Route{"POST", "/v1/clock/step", step_clock, {Scope::admin, Reach::store}},
    // The console's own; its pages use the routes above for everything else.
    Route{"GET", "/console", console_page, {Scope::read, Reach::open}},
    Route{"GET", "/console/", console_page, {Scope::read, Reach::open}},
    Route{"GET", "/console/assets/*", console_asset, {Scope::read, Reach::open}},
    Route{"GET", "/console/session", console_session, {Scope::read, Reach::known}},
    Route{"POST", kLogin, console_login, {Scope::read, Reach::open}},
    Route{"DELETE", "/console/session", console_logout, {Scope::read, Reach::known}},
    Route{"GET", "/console/events", console_events, {Scope::read, Reach::answer}},
};

std::string_view next_segment(std::string_view& path) {
  path.remove_prefix(1);  // removes the slash
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

// Whether the path matches the pattern. `name` gets the segment that stands for "*", still
// encoded.
bool matches(std::string_view pattern, std::string_view path, std::string_view& name) {
  while (pattern.starts_with('/') && path.starts_with('/')) {
    const std::string_view wanted = next_segment(pattern);
    const std::string_view found = next_segment(path);
    if (wanted == "*" && !found.empty()) {
      name = found;
    } else if (wanted != found) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

// Removes scheme and host from a target: a client that uses a proxy sends the whole URL. The host
// was checked before.
std::string_view origin_form(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::size_t slash = target.find('/');
    return slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  return target;
}

// The route that takes the request; null if there is none. `name` gets the segment
// of its path that stands for "*", still encoded.
const Route* route_of(const net::HttpMessage& message, std::string_view& name) {
  const std::string_view target = origin_form(message.target);
  const std::string_view path = target.substr(0, target.find('?'));
  for (const Route& known : kRoutes) {
    if (known.method == message.method && matches(known.pattern, path, name)) return &known;
  }
  return nullptr;
}

bool is_json(std::string_view content_type) {
  const std::size_t end = std::min(content_type.find(';'), content_type.size());
  std::string_view type = content_type.substr(0, end);
  while (type.ends_with(' ')) type.remove_suffix(1);
  return base::equals_ignoring_case(type, "application/json");
}

// Requires this content type, because a web page cannot send it to another origin without a
// preflight request. So no form or image on a page in the user's browser can push or purge.
std::optional<Response> check_body(const net::HttpMessage& message) {
  if (message.body.empty()) return std::nullopt;
  if (message.method == "GET" || message.method == "HEAD") {
    return problem(400, ErrorCode::invalid_argument, message.method + " takes no body");
  }
  // If there are several, a proxy before this server may have used another one.
  if (message.count("Content-Type") > 1) {
    return problem(400, ErrorCode::invalid_argument, "Content-Type stands there more than once");
  }
  const std::string* coding = message.find("Content-Encoding");
  if (coding != nullptr && !base::equals_ignoring_case(*coding, "identity")) {
    return problem(
        415, ErrorCode::invalid_argument,
        "Content-Encoding is " + base::quoted(*coding) + "; bodies are read as they are");
  }
  const std::string* type = message.find("Content-Type");
  if (type != nullptr && is_json(*type)) return std::nullopt;
  return problem(415, ErrorCode::invalid_argument,
                 "Content-Type is " + (type == nullptr ? "missing" : base::quoted(*type)) +
                     "; it must be application/json");
}

Response wrong_method(std::string_view method, std::string allow) {
  Response response =
      problem(405, ErrorCode::invalid_argument, wire::no_method_text(method, allow));
  response.allow = std::move(allow);
  return response;
}

}  // namespace

std::vector<RouteName> route_names() {
  std::vector<RouteName> names;
  for (const Route& known : kRoutes) {
    if (known.pattern.starts_with(kConsole)) continue;
    names.push_back({known.method, known.pattern, known.need});
  }
  return names;
}

bool is_open(std::string_view path) {
  std::string_view segment;
  return std::ranges::any_of(kRoutes, [&](const Route& known) {
    return known.need.reach == Reach::open && known.method == "GET" &&
           matches(known.pattern, path, segment);
  });
}

bool is_login(const net::HttpMessage& message) {
  std::string_view segment;
  const Route* found = route_of(message, segment);
  return found != nullptr && found->pattern == kLogin;
}

bool leaves_less_work(const net::HttpMessage& message) {
  std::string_view name;
  const Route* found = route_of(message, name);
  return found != nullptr && found->leaves_less;
}

std::optional<RouteAct> act_of_route(const net::HttpMessage& message) {
  std::string_view encoded_name;
  const Route* found = route_of(message, encoded_name);
  if (found == nullptr || !found->act) return std::nullopt;
  std::string name = wire::percent_decode(encoded_name).value_or("");
  if (found->pattern.starts_with(kSchedules)) return RouteAct{*found->act, {}, std::move(name)};
  if (found->pattern.starts_with(kSessions)) return RouteAct{*found->act, {}, {}, std::move(name)};
  return RouteAct{*found->act, std::move(name)};
}

Routed route(const Service& service, net::HttpMessage& message, std::string_view& pattern,
             const Caller& caller) {
  pattern = kNoRoute;
  std::string_view path = origin_form(message.target);
  const std::size_t mark = std::min(path.find('?'), path.size());
  const std::string_view query_text = path.substr(std::min(mark + 1, path.size()));
  path = path.substr(0, mark);

  // HEAD is answered as GET; the connection sends no body.
  const std::string_view asked_for = message.method;
  const std::string_view method = asked_for == "HEAD" ? "GET" : asked_for;
  const Route* found = nullptr;
  std::string allow;
  std::string_view encoded_name;
  for (const Route& candidate : kRoutes) {
    std::string_view segment;
    if (!matches(candidate.pattern, path, segment)) continue;
    allow += (allow.empty() ? "" : ", ") + std::string(candidate.method);
    if (candidate.method == "GET") allow += ", HEAD";
    pattern = candidate.pattern;
    if (candidate.method != method) continue;
    found = &candidate;
    encoded_name = segment;
  }
  if (allow.empty()) {
    return problem(404, ErrorCode::not_found, wire::no_route_text(path));
  }
  if (found == nullptr) return wrong_method(message.method, std::move(allow));
  if (auto refused = check_body(message)) return std::move(*refused);

  auto name = wire::percent_decode(encoded_name);
  if (!name) return problem(name.error());
  if (auto refused = check_rights(*caller.identity, found->need, *name)) {
    return *std::move(refused);
  }
  auto query = wire::Query::parse(query_text);
  if (!query) return problem(query.error());
  // Other methods have no parameters: they name their changes in the body. DELETE has no body, so
  // it may have parameters.
  if (method != "GET" && method != "DELETE") {
    if (auto error = query->finish()) return problem(*error);
  }
  Asked asked{service,
              caller.identity,
              std::move(*name),
              std::move(*query),
              std::move(message.body),
              caller.peer,
              message.find("User-Agent"),
              message,
              caller.is_encrypted};
  return found->handler(asked);
}

}  // namespace tarry::http
