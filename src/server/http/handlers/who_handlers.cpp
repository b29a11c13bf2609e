// The routes that list connected clients, acts of the audit log, and sessions of the console.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "server/console/cookie.h"
#include "server/http/handlers/handlers.h"
#include "wire/json/json_writer.h"

namespace tarry::http {
namespace {

constexpr std::uint64_t kDefaultLimit = 100;
constexpr std::uint64_t kMostLimit = 1'000;

}  // namespace

// Those with the most connections come first, because a page of all would be long.
Routed list_clients(Asked& asked) {
  const auto limit = asked.query.number("limit", 1, kMostLimit).value_or(kDefaultLimit);
  if (auto error = asked.query.finish()) return problem(*error);
  auto clients = asked.service.clients ? asked.service.clients() : std::vector<session::Client>();
  std::uint64_t connections = 0;
  for (const session::Client& one : clients) connections += one.connections;
  std::ranges::sort(clients, [](const session::Client& a, const session::Client& b) {
    return std::tie(b.connections, a.peer, a.identity, a.front) <
           std::tie(a.connections, b.peer, b.identity, b.front);
  });
  const std::uint64_t all = clients.size();
  if (all > limit) clients.resize(limit);
  std::string text;
  wire::JsonWriter out(text);
  out.begin_object().name("clients").begin_array();
  for (const session::Client& one : clients) {
    out.begin_object().text_field("peer", one.peer);
    if (!one.identity.empty()) out.text_field("identity", one.identity);
    out.text_field("front", one.front).field("connections", one.connections);
    out.field("waiting_claims", one.waiting_claims).field("held_bytes", one.held_bytes);
    out.end_object();
  }
  out.end_array().field("all_clients", all).field("all_connections", connections).end_object();
  return ok(std::move(text));
}

Routed list_acts(Asked& asked) {
  const auto limit = asked.query.number("limit", 1, kMostLimit).value_or(kDefaultLimit);
  constexpr std::uint64_t kMostNumber = std::numeric_limits<std::int64_t>::max();
  const auto after = asked.query.number("after", 1, kMostNumber).value_or(0);
  if (auto error = asked.query.finish()) return problem(*error);
  if (asked.service.trail == nullptr || !asked.service.trail->is_on()) {
    return problem(404, ErrorCode::not_found, "this server has no audit log; set server.audit_log");
  }
  std::string text = R"({"acts":[)";
  const std::uint64_t next = asked.service.trail->recent().visit(
      after, static_cast<std::size_t>(limit), [&text](std::string_view line) {
        if (!text.ends_with('[')) text += ',';
        text += line;
      });
  text += R"(],"next":")" + (next == 0 ? std::string() : std::to_string(next)) + "\"}";
  return ok(std::move(text));
}

Routed list_sessions(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  const Service& service = asked.service;
  const auto own = console::session_in(asked.message);
  const std::string own_id = own ? console::Sessions::shown_id(*own) : std::string();
  std::string text;
  wire::JsonWriter out(text);
  out.begin_object().name("sessions").begin_array();
  if (service.sessions != nullptr) {
    for (const auto& one : service.sessions->all(*service.tokens, service.token_clock())) {
      out.begin_object().text_field("id", one.id).text_field("identity", one.identity);
      out.text_field("client", one.client);
      out.time_field("began", one.began).time_field("seen", one.seen);
      out.field_bool("own", one.id == own_id).end_object();
    }
  }
  out.end_array().end_object();
  return ok(std::move(text));
}

Routed end_session(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  auto whose =
      asked.service.sessions == nullptr ? std::nullopt : asked.service.sessions->end_of(asked.name);
  if (!whose) {
    return problem(404, ErrorCode::not_found,
                   "the console has no session " + base::quoted(asked.name) +
                       "; GET /v1/sessions lists those that there are");
  }
  Response response = ok(R"({"outcome":"ended"})");
  response.session_of = *std::move(whose);
  return response;
}

}  // namespace tarry::http
