#include "server/http/handlers/response.h"

#include <utility>

#include "core/engine_parts/away.h"
#include "server/session_parts/store_error.h"
#include "wire/parts/problem.h"

namespace tarry::http {

Response ok(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

Response problem(unsigned status, std::string_view code, std::string_view detail) {
  Response response;
  response.status = status;
  response.code = code;
  response.detail = detail;
  wire::JsonWriter out(response.body);
  out.begin_object();
  wire::write_problem(out, status, code, detail);
  out.end_object();
  constexpr unsigned kNoToken = 401;
  constexpr unsigned kTooMany = 429;
  constexpr unsigned kFirstFailure = 500;
  if (status == kNoToken || status == kTooMany || status >= kFirstFailure) {
    response.reason = detail;
  }
  return response;
}

Response problem(unsigned status, ErrorCode code, std::string_view detail) {
  return problem(status, to_string(code), detail);
}

Response problem(const Error& error) {
  const unsigned status = wire::status_of(error.code);
  if (!session::may_name_files(error.code)) return problem(status, error.code, error.message);
  Response response = problem(status, error.code, session::without_paths(error.message));
  if (!response.reason.empty()) response.reason = error.message;
  return response;
}

Response closing() {
  Response response = problem(503, wire::kClosing,
                              "the server is being stopped, and has claimed nothing; claim again "
                              "when it, or another one, is there");
  response.close = true;
  response.reason.clear();  // not logged here, because the stop itself was logged
  return response;
}

Response unwell(const Error& error) {
  ErrorCode code = ErrorCode::io_error;
  if (error.code == ErrorCode::closed) code = ErrorCode::closed;
  // The request changes nothing, so an unknown outcome means only that the store is unavailable.
  if (core::is_away(error.code)) code = ErrorCode::unavailable;
  Response response = problem(503, code, session::without_paths(error.message));
  response.reason = error.message;
  return response;
}

Response no_memory() {
  return problem(503, ErrorCode::unavailable,
                 "the server has not the memory for this request just now; nothing was done");
}

Response too_much_held(const session::OverLimit& over) {
  return problem(429, ErrorCode::unavailable,
                 over_limit("sum of all " + over.what + " that are held", over.limit) + " (" +
                     std::string(over.of) + ")");
}

Response limit_reached(const limits::Reached& reached) {
  const std::string seconds = std::to_string(reached.retry_after.count());
  Response response =
      problem(429, ErrorCode::unavailable, text_of(reached) + "; try again in " + seconds + " s");
  response.retry_after = static_cast<std::uint32_t>(reached.retry_after.count());
  return response;
}

std::string over_limit(std::string_view what, std::uint64_t limit) {
  return "the " + std::string(what) + " is over the limit of " + std::to_string(limit) + " bytes";
}

std::string head_of(const Response& response, std::string_view request_id, bool keep_alive) {
  std::string head;
  head.reserve(256);
  head += "HTTP/1.1 ";
  head += std::to_string(response.status);
  head += ' ';
  head += wire::reason_phrase(response.status);
  head += "\r\nContent-Type: ";
  if (response.status != 200) {
    head += "application/problem+json";
  } else {
    head += response.content_type.empty() ? "application/json" : response.content_type;
  }
  head += "\r\nX-Request-ID: ";
  head += request_id;
  head += "\r\n";
  if (!response.allow.empty()) {
    head += "Allow: ";
    head += response.allow;
    head += "\r\n";
  }
  if (response.status == 401) head += "WWW-Authenticate: Bearer\r\n";
  http_session::end_head(head, response, keep_alive);
  return head;
}

}  // namespace tarry::http
