// Told: a line of the audit log, read back.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>
#include <tarry/time.h>

namespace tarry::audit {

struct Told {
  Time time;
  std::string act;
  std::string identity;  // empty: the client sent no token, or none that is valid
  std::string peer;
  std::string queue;
  std::string key;   // or the receipt, of a bury; or the schedule, or the session; empty: none
  std::string what;  // the filter of an act on many messages; whose session
  std::string outcome;
  std::string more;  // how many messages had which outcome, or the code of a refusal

  /// Whether the act was not carried out.
  [[nodiscard]] bool is_refused() const noexcept {
    return outcome == "refused" || outcome == "failed";
  }
};

/// Error: `invalid_argument` for text that is not a whole line of an audit log.
[[nodiscard]] Result<Told> read_line(std::string_view line);

}  // namespace tarry::audit
