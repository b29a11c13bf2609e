#include "wire/parts/problem.h"

#include <array>

#include "base/text/text.h"
#include "wire/json/json_reader.h"
#include "wire/parts/batch.h"

namespace tarry::wire {
namespace {

constexpr std::array kCodes = {
    ErrorCode::invalid_argument, ErrorCode::too_large, ErrorCode::unsupported,
    ErrorCode::not_found,        ErrorCode::conflict,  ErrorCode::unavailable,
    ErrorCode::no_space,         ErrorCode::closed,    ErrorCode::unknown_outcome,
    ErrorCode::damaged,          ErrorCode::io_error,  ErrorCode::permission_denied,
    ErrorCode::misuse,
};

ErrorCode code_of(unsigned status) noexcept {
  switch (status) {
    case 401:
    case 403:
    case 421: return ErrorCode::permission_denied;
    case 404: return ErrorCode::not_found;
    case 409: return ErrorCode::conflict;
    case 413:
    case 431: return ErrorCode::too_large;
    case 408:
    case 429:
    case 503: return ErrorCode::unavailable;
    case 501: return ErrorCode::unsupported;
    default: break;
  }
  // An answer that is neither an error nor the expected one may well mean that the request was
  // carried out.
  const bool is_refusal = status >= 400 && status < 500;
  return is_refusal ? ErrorCode::invalid_argument : ErrorCode::unknown_outcome;
}

}  // namespace

unsigned status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return 400;
    case ErrorCode::too_large: return 413;
    case ErrorCode::unsupported: return 501;
    case ErrorCode::not_found: return 404;
    case ErrorCode::conflict: return 409;
    case ErrorCode::permission_denied: return 403;
    case ErrorCode::unavailable:
    case ErrorCode::no_space:
    case ErrorCode::closed: return 503;
    // Not 503: clients repeat a request after a 503 by themselves, and this one must not be
    // repeated unnoticed.
    case ErrorCode::unknown_outcome:
    case ErrorCode::damaged:
    case ErrorCode::io_error:
    case ErrorCode::misuse: return 500;
  }
  return 500;
}

std::string_view reason_phrase(unsigned status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

std::optional<ErrorCode> code_from(std::string_view word) noexcept {
  for (const ErrorCode code : kCodes) {
    if (to_string(code) == word) return code;
  }
  return std::nullopt;
}

void write_problem(JsonWriter& out, unsigned status, std::string_view code,
                   std::string_view detail) {
  out.field("type", "about:blank").field("title", reason_phrase(status));
  out.field("status", std::uint64_t{status}).text_field("detail", detail).field("code", code);
}

std::string no_route_text(std::string_view path) {
  return "there is no " + base::quoted(path) + " here";
}

bool tells_no_route(const Error& error) noexcept {
  const std::string_view said = error.message;
  return error.code == ErrorCode::not_found && said.starts_with("there is no \"/v1/") &&
         said.ends_with(" here");
}

std::string no_method_text(std::string_view method, std::string_view allow) {
  return "the method " + base::quoted(method) + " is not one of: " + std::string(allow);
}

bool tells_no_method(const Error& error) noexcept {
  const std::string_view said = error.message;
  return error.code == ErrorCode::invalid_argument && said.starts_with("the method \"") &&
         said.find("\" is not one of: ") != std::string_view::npos;
}

Error read_problem(unsigned status, std::string_view body) {
  Document document(body.size(), kAnswerLimits);
  if (!document.parse(body)) {
    Fields fields(document.root(), "the problem", Unknown::ignored);
    const auto word = fields.text("code").value_or("");
    const auto code = word == kClosing ? ErrorCode::unavailable : code_from(word);
    const auto detail = fields.text("detail");
    if (!fields.finish() && code && detail) return {*code, std::string(*detail)};
  }
  return {code_of(status), "the server answered " + std::to_string(status) + " " +
                               std::string(reason_phrase(status)) + ": " + base::quoted(body, 200)};
}

void write_error(JsonWriter& out, const Error& error) {
  out.name("error").begin_object();
  out.field("code", to_string(error.code)).text_field("message", error.message).end_object();
}

std::optional<Error> read_error(Fields& fields) {
  const boost::json::value* value = fields.any("error");
  if (value == nullptr) return std::nullopt;
  Fields inner(*value, "\"error\"", Unknown::ignored);
  const auto code = code_from(inner.text("code").value_or(""));
  const auto message = inner.text("message").value_or("");
  if (MaybeError error = inner.finish()) {
    fields.fail(std::move(*error));
  }
  // An unknown code is from a newer server. It certainly does not mean "done".
  return Error{code.value_or(ErrorCode::unknown_outcome), std::string(message)};
}

}  // namespace tarry::wire
