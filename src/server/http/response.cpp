#include "server/http/response.h"

#include <utility>

#include "wire/problem.h"

namespace tarry::http {

Response ok(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

Response problem(unsigned status, std::string_view code, std::string_view detail) {
  Response response;
  response.status = status;
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
  if (!may_name_files(error.code)) return problem(status, error.code, error.message);
  Response response = problem(status, error.code, without_paths(error.message));
  if (!response.reason.empty()) response.reason = error.message;
  return response;
}

Response closing() {
  Response response = problem(503, wire::kClosing,
                              "the server is being stopped, and has claimed nothing; claim again "
                              "when it, or another one, is there");
  response.close = true;
  response.reason.clear();  // the log has told of the stop
  return response;
}

bool may_name_files(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::unavailable:
    case ErrorCode::no_space:
    case ErrorCode::closed:
    case ErrorCode::unknown_outcome:
    case ErrorCode::damaged:
    case ErrorCode::io_error:
    case ErrorCode::permission_denied: return true;
    case ErrorCode::invalid_argument:
    case ErrorCode::too_large:
    case ErrorCode::unsupported:
    case ErrorCode::not_found:
    case ErrorCode::conflict:
    case ErrorCode::misuse: break;  // they name what was asked for
  }
  return false;
}

// A path begins where a word does, and ends with the word, or with the quotes around it.
std::string without_paths(std::string_view text) {
  constexpr std::string_view kBefore = " \"'(=:,";
  constexpr std::string_view kAfter = " \"'),;";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || kBefore.find(text[at - 1]) != std::string_view::npos;
    // Of "redis://host" the slashes are none.
    const bool in_url = at > 0 && text[at - 1] == ':' && text.substr(at).starts_with("//");
    if (text[at] != '/' || !begins || in_url) {
      out += text[at++];
      continue;
    }
    const bool quoted = at > 0 && (text[at - 1] == '"' || text[at - 1] == '\'');
    std::size_t end = quoted ? text.find(text[at - 1], at) : text.find_first_of(kAfter, at);
    if (end == std::string_view::npos) end = text.size();
    std::string_view path = text.substr(at, end - at);
    std::string_view tail;  // "/a/b: reason"
    while (path.ends_with(':') || path.ends_with('.')) {
      tail = text.substr(at + path.size() - 1, tail.size() + 1);
      path.remove_suffix(1);
    }
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    std::size_t keep = path.rfind('/');
    if (keep > 0) keep = path.rfind('/', keep - 1);
    out += path.substr(keep + 1);
    out += tail;
    at = end;
  }
  return out;
}

bool is_away(const Error& error) noexcept {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::unknown_outcome;
}

Response unwell(const Error& error) {
  ErrorCode code = ErrorCode::io_error;
  if (error.code == ErrorCode::closed) code = ErrorCode::closed;
  // Nothing was to change, so nothing is in doubt.
  if (is_away(error)) code = ErrorCode::unavailable;
  Response response = problem(503, code, without_paths(error.message));
  response.reason = error.message;
  return response;
}

Response no_memory() {
  return problem(503, ErrorCode::unavailable,
                 "the server has not the memory for this request just now; nothing was done");
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
  head += "\r\nContent-Length: ";
  head += std::to_string(response.body.size());
  head += "\r\nCache-Control: no-store\r\nX-Request-ID: ";
  head += request_id;
  if (!response.allow.empty()) {
    head += "\r\nAllow: ";
    head += response.allow;
  }
  if (response.status == 401) head += "\r\nWWW-Authenticate: Bearer";
  if (response.status == 503 || response.status == 429) head += "\r\nRetry-After: 1";
  head += keep_alive ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
  return head;
}

}  // namespace tarry::http
