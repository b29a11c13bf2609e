// Errors as HTTP says them: application/problem+json (RFC 9457) with tarry's code beside it.
//
//   {"type":"about:blank","title":"Bad Request","status":400,"detail":"...","code":"..."}
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "wire/json_writer.h"

namespace tarry::wire {

/// The code of a server that is being stopped, to a claim that it ends: nothing was claimed, and
/// the next server is asked the same. In C++ it is `unavailable`, since `closed` would be the
/// caller's own store.
inline constexpr std::string_view kClosing = "closing";

/// The status that goes with a code: what the caller should do next, in HTTP's words.
[[nodiscard]] unsigned status_of(ErrorCode code) noexcept;

/// "Bad Request", "Conflict", ...
[[nodiscard]] std::string_view reason_phrase(unsigned status) noexcept;

[[nodiscard]] std::optional<ErrorCode> code_from(std::string_view word) noexcept;

/// The members of a problem, inside an object that the caller opened.
void write_problem(JsonWriter& out, unsigned status, std::string_view code,
                   std::string_view detail);

/// What a server says of a path that none of its routes takes.
[[nodiscard]] std::string no_route_text(std::string_view path);
/// Whether a server has said that: it is older than who asks it. What the engine does not find is
/// said in other words.
[[nodiscard]] bool tells_no_route(const Error& error) noexcept;

/// The same of a path whose routes take other methods: `allow`, separated by commas.
[[nodiscard]] std::string no_method_text(std::string_view method, std::string_view allow);
[[nodiscard]] bool tells_no_method(const Error& error) noexcept;

/// What a client makes of an answer that is not 200: the problem's own code and detail, or, from
/// somebody who speaks otherwise, the nearest to the status.
[[nodiscard]] Error read_problem(unsigned status, std::string_view body);

}  // namespace tarry::wire
