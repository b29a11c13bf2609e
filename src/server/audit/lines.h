// The lines of the audit log: a JSON object each, which docs/reference/audit-log.md describes.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include <tarry/time.h>

#include "server/audit/entry.h"

namespace tarry::audit {

/// The sender of the request.
struct Client {
  std::string_view identity;  // the name of its token; empty if it sent none
  std::string_view address;   // with the port; for a unix socket, the user
  std::string_view front;     // "http"
  std::string_view request_id;
};

/// How the request was answered.
struct Answer {
  unsigned status = 0;      // in HTTP's terms; 0: the client was gone before the answer
  std::string_view code;    // of the refusal: "permission_denied"
  std::string_view reason;  // in words; must not quote the request's body
};

/// Gets whole lines, each with its newline.
using TakeLines = std::function<void(std::string_view lines, std::size_t count)>;

/// The lines of an act: one for each message that it names, or one for the whole act. `take` is
/// called with pieces of about kPiece bytes.
void write_lines(const Entry& entry, const Client& client, const Answer& answer, Time now,
                 const TakeLines& take);
inline constexpr std::size_t kPiece = 256 * 1024;

/// The line of a client that sent no valid token. `left_out`: lines like it that were left out
/// since the last one.
void write_refused_token(const Client& client, const Answer& answer, std::uint64_t left_out,
                         Time now, const TakeLines& take);

}  // namespace tarry::audit
