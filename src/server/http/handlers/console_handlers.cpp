// The console's page, its files, its login, and the head of its events.
#include <string>
#include <utility>

#include "base/text/ascii.h"
#include "server/console/assets.h"
#include "server/console/cookie.h"
#include "server/http/handlers/handlers.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::http {
namespace {

constexpr std::string_view kPageName = "index.html";

// The page runs our script and no other, asks this server and no other, and is in no frame.
constexpr std::string_view kPolicy =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"
    "X-Frame-Options: DENY\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Encoding: gzip\r\n"
    "Vary: Accept-Encoding\r\n";

bool takes_gzip(const net::HttpMessage& message) {
  const std::string* accepted = message.find("Accept-Encoding");
  return accepted != nullptr && accepted->find("gzip") != std::string::npos;
}

Routed answer_file(Asked& asked, std::string_view name) {
  if (auto error = asked.query.finish()) return problem(*error);
  if (console::assets().empty()) {
    return problem(404, ErrorCode::not_found,
                   "this program has no console: it was built without npm, or with "
                   "TARRY_CONSOLE=OFF");
  }
  const console::Asset* found = console::find_asset(name);
  if (found == nullptr) {
    return problem(404, ErrorCode::not_found, "the console has no file of this name");
  }
  if (!takes_gzip(asked.message)) {
    return problem(406, ErrorCode::unsupported,
                   "the console's files are compressed; send Accept-Encoding: gzip");
  }
  Response response = ok(std::string(found->gzip));
  response.content_type = found->content_type;
  response.fields = kPolicy;
  response.cacheable = name != kPageName;
  return response;
}

// Whether the browser may be told to send the cookie through TLS only. A proxy that ends TLS shows
// in the origin of the page alone.
bool is_secure(const Asked& asked) {
  const std::string* origin = asked.message.find("Origin");
  return asked.is_encrypted || (origin != nullptr && origin->starts_with("https://"));
}

std::string session_json(const Asked& asked, const identity::Identity& who) {
  std::string text;
  wire::JsonWriter out(text);
  out.begin_object().field_bool("login", asked.service.tokens && asked.service.tokens->required());
  out.text_field("name", who.name);
  out.name("scopes").begin_array();
  for (const identity::Scope scope : identity::kScopes) {
    if (who.scopes.has(scope)) out.plain(identity::to_string(scope));
  }
  out.end_array().name("queues").begin_array();
  for (const std::string& pattern : who.queues) out.string(pattern);
  out.end_array();
  if (who.ends) out.time_field("end", *who.ends);
  out.text_field("version", TARRY_VERSION);
  out.field_bool("test_clock", static_cast<bool>(asked.service.advance_clock));
  out.end_object();
  return text;
}

Result<std::string> decode_login(std::string_view body) {
  wire::Document document(body.size());
  if (auto error = document.parse(body)) return *error;
  wire::Fields fields(document.root(), "the body", wire::Unknown::refused);
  fields.require("token");
  std::string token(fields.text("token").value_or(""));
  if (auto error = fields.finish()) return *error;
  return token;
}

Response wrong_token() {
  return problem(401, ErrorCode::permission_denied,
                 "this is no token of this server, or it has ended");
}

}  // namespace

Routed console_page(Asked& asked) { return answer_file(asked, kPageName); }

Routed console_asset(Asked& asked) {
  if (asked.name == kPageName) {
    return problem(404, ErrorCode::not_found, "the console's page is /console");
  }
  return answer_file(asked, asked.name);
}

Routed console_session(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  return ok(session_json(asked, *asked.identity));
}

// A new id each time, so that nobody can know it before. An older session of the browser ends.
Routed console_login(Asked& asked) {
  const Service& service = asked.service;
  if (service.sessions == nullptr || !service.tokens->required()) {
    return problem(409, ErrorCode::conflict, "this server needs no login: it has no tokens");
  }
  if (asked.message.find("X-Tarry-Console") == nullptr) {
    return problem(403, ErrorCode::permission_denied, "a login needs the field X-Tarry-Console");
  }
  const auto token = decode_login(asked.body);
  if (!token) return problem(token.error());
  const Time now = service.token_clock();
  identity::IdentityPtr who = service.tokens->find(*token);
  if (who == nullptr || who->has_ended(now)) return wrong_token();
  if (const auto old = console::session_in(asked.message)) service.sessions->end(*old);
  const auto id =
      service.sessions->begin(who, now, session::holder_name(asked.peer, asked.user_agent));
  if (!id) return problem(id.error());
  Response response = ok(session_json(asked, *who));
  response.fields = "Set-Cookie: " + console::cookie_of(*id, is_secure(asked)) + "\r\n";
  return response;
}

Routed console_logout(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  const auto id = console::session_in(asked.message);
  if (id && asked.service.sessions != nullptr) asked.service.sessions->end(*id);
  Response response = ok("{}");
  response.fields = "Set-Cookie: " + console::no_cookie(is_secure(asked)) + "\r\n";
  return response;
}

Routed console_events(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  Response response;
  response.content_type = "text/event-stream";
  response.fields = "X-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\n";
  response.goes_on = true;
  return response;
}

}  // namespace tarry::http
