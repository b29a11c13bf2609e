// Trace context: the W3C's `traceparent` and `tracestate` (Trace Context, level 1), which name the
// trace that a message belongs to. tarry keeps them as headers of the message, and starts no trace
// of its own.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/request.h"

namespace tarry::core {

inline constexpr std::string_view kTraceparent = "traceparent";
inline constexpr std::string_view kTracestate = "tracestate";
inline constexpr std::size_t kMaxTracestate = 512;  // bytes

struct TraceContext {
  std::string parent;  // of version 00; empty: there is no trace
  std::string state;   // empty: there is none
};

/// The context of a sender's two header fields. `parent` is empty if the field `parent` is not
/// valid (then the other one means nothing), `state` if the field `state` is not valid or over
/// kMaxTracestate bytes. A parent of a later version becomes one of version 00, as the W3C demands.
[[nodiscard]] TraceContext read_trace(std::string_view parent, std::string_view state);

/// Gives the context's headers to every message that has no `traceparent` of its own. A push never
/// fails because of them: a message whose headers would be over their limit does not get them, and
/// no message does if the batch would be over its limit.
void add_trace(PushRequest& request, const TraceContext& trace);

}  // namespace tarry::core
