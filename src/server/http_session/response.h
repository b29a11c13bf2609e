// Response: an answer over HTTP, in any protocol that uses it. A front writes its head (`head_of`).
//
// Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tarry::http_session {

struct Response {
  unsigned status = 200;
  std::string body;    // of the type `content_type`; empty: of the front's usual type
  std::string allow;   // 405: the methods that are allowed
  bool close = false;  // close the connection: its later bytes cannot be trusted, or will not be
                       // read
  // For the log: the reason of a 401, a 429, a status from 500 on, or of items that failed because
  // of the store.
  std::string reason = {};
  std::uint32_t retry_after = 1;  // 429, 503: seconds until the client may try again
  // For the audit log: a refusal's code, which lives as long as the program, and its detail.
  std::string_view code = {};
  std::string detail = {};
  std::string session_of = {};  // for the audit log: the name of the token whose session was ended
  std::string_view content_type = {};
  bool token_refused = false;  // the client has shown no valid token; a 401 always means that
  std::string fields = {};     // further fields of the head, each with its line's end
  bool cacheable = false;      // the body of this URL never changes
  bool goes_on = false;        // the body is a stream, which ends with the connection
};

/// Writes what every head ends with: Content-Length, Cache-Control, Retry-After with 429 and 503,
/// `fields`, Connection, and the empty line.
void end_head(std::string& head, const Response& response, bool keep_alive);

}  // namespace tarry::http_session
