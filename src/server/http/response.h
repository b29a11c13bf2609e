// An answer to a client. Plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "server/session/held_bytes.h"

namespace tarry::http {

struct Response {
  unsigned status = 200;
  std::string body;    // JSON, unless content_type says otherwise
  std::string allow;   // 405: the methods that would do
  bool close = false;  // later bytes on the connection cannot be trusted, or will not be read
  // For the log: of 401, 429, from 500 on, and of items that the store failed.
  std::string reason = {};
  std::string_view content_type = {};  // of a status 200; empty: application/json
};

[[nodiscard]] Response ok(std::string body);
/// application/problem+json, as every status but 200.
[[nodiscard]] Response problem(unsigned status, ErrorCode code, std::string_view detail);
[[nodiscard]] Response problem(unsigned status, std::string_view code, std::string_view detail);
/// An error of the store names no path of its machine: the log has the whole line.
[[nodiscard]] Response problem(const Error& error);
/// 503: a claim that the server, which is being stopped, waits with no longer.
[[nodiscard]] Response closing();
/// The answer of /healthz for an engine that fails at everything, for any reason.
[[nodiscard]] Response unwell(const Error& error);
/// 429: others hold too much already.
[[nodiscard]] Response too_much_held(const session::OverLimit& over);
/// 503: for a request that was not begun, for lack of memory.
[[nodiscard]] Response no_memory();

/// For a problem's detail: "the <what> is over the limit of <limit> bytes".
[[nodiscard]] std::string over_limit(std::string_view what, std::uint64_t limit);

/// Status line and fields, with the empty line.
[[nodiscard]] std::string head_of(const Response& response, std::string_view request_id,
                                  bool keep_alive);

}  // namespace tarry::http
