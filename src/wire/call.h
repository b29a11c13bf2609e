// Turns a core::Request into an HTTP call, and its answer into a core::Reply, for a client of the
// server (the remote engine). The server's routes do the reverse; tests check that the two agree.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "base/threads/boot_clock.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::wire {

/// Which codec reads the answer.
enum class Answer : std::uint8_t {
  pushed,
  items,
  claimed,
  got,
  listed,
  stats,
  configured,
  count,
  forecast,
  resharded,
};

struct Call {
  std::string_view method;
  std::string target;
  std::string body;  // empty: none
  Answer answer = Answer::count;
  // How many items the answer must have: results of a batch, or buckets of a forecast.
  std::size_t items = 0;
  bool changes = true;  // false: the call may be repeated without harm
  // When the call was sent; the sender sets it. The leases of a claim are counted from this time.
  std::optional<base::BootClock::time_point> asked_at = {};
};

/// Errors: `invalid_argument` for headers that are ill-formed.
[[nodiscard]] Result<Call> encode_call(const core::Request& request);

/// Reads the body of an answer with status 200. Error: `invalid_argument` if it is not an answer to
/// this call.
[[nodiscard]] Result<core::Reply> decode_answer(const Call& call, std::string_view body);

}  // namespace tarry::wire
