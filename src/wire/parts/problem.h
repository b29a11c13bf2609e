// Errors over HTTP: application/problem+json (RFC 9457), with tarry's code.
//
//   {"type":"about:blank","title":"Bad Request","status":400,"detail":"...","code":"..."}
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "wire/json/json_writer.h"

namespace tarry::wire {

/// The code for a waiting claim that a server ends because it shuts down. Nothing was claimed, and
/// the client may send the claim to the next server. In C++ it is `unavailable`, because `closed`
/// would mean the caller's own store.
inline constexpr std::string_view kClosing = "closing";

/// The HTTP status for a code.
[[nodiscard]] unsigned status_of(ErrorCode code) noexcept;

/// "Bad Request", "Conflict", ...
[[nodiscard]] std::string_view reason_phrase(unsigned status) noexcept;

[[nodiscard]] std::optional<ErrorCode> code_from(std::string_view word) noexcept;

/// The members of a problem, inside an object that the caller opened.
void write_problem(JsonWriter& out, unsigned status, std::string_view code,
                   std::string_view detail);

/// The error text for a path without a route.
[[nodiscard]] std::string no_route_text(std::string_view path);
/// Whether a server has sent that text, which means that it is older than its client. An error of
/// the engine for something that does not exist has another text.
[[nodiscard]] bool tells_no_route(const Error& error) noexcept;

/// The error text for a path whose routes have other methods; `allow` lists these, separated by
/// commas.
[[nodiscard]] std::string no_method_text(std::string_view method, std::string_view allow);
[[nodiscard]] bool tells_no_method(const Error& error) noexcept;

/// Reads an answer whose status is not 200: takes the problem's own code and detail or, if the
/// answer is not from a tarry server, the code nearest to the status.
[[nodiscard]] Error read_problem(unsigned status, std::string_view body);

}  // namespace tarry::wire
