// An answer to a client. Plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "server/http_session/response.h"
#include "server/limits/limit.h"
#include "server/session_parts/held_bytes.h"

namespace tarry::http {

/// A body without a type is application/json with status 200, application/problem+json otherwise.
using http_session::Response;

[[nodiscard]] Response ok(std::string body);
/// A response of type application/problem+json. Every status except 200 has this type.
[[nodiscard]] Response problem(unsigned status, ErrorCode code, std::string_view detail);
/// `code` lives as long as the program.
[[nodiscard]] Response problem(unsigned status, std::string_view code, std::string_view detail);
/// The response for an error. Paths of the server's machine are removed from the store's errors;
/// the log has the whole line.
[[nodiscard]] Response problem(const Error& error);
/// 503 for a waiting claim that the server ends because it is shutting down.
[[nodiscard]] Response closing();
/// The answer of /healthz if the engine fails at everything, whatever the reason.
[[nodiscard]] Response unwell(const Error& error);
/// 429, because other requests or answers take too much memory.
[[nodiscard]] Response too_much_held(const session::OverLimit& over);
/// 429, because a limit is reached.
[[nodiscard]] Response limit_reached(const limits::Reached& reached);
/// 503 for a request that was not begun because there is too little memory.
[[nodiscard]] Response no_memory();

/// A problem's detail: "the <what> is over the limit of <limit> bytes".
[[nodiscard]] std::string over_limit(std::string_view what, std::uint64_t limit);

/// The head of a response: status line, fields and the empty line.
[[nodiscard]] std::string head_of(const Response& response, std::string_view request_id,
                                  bool keep_alive);

}  // namespace tarry::http
