// Import and move-away on the wire. Fields have the same names as in the answer of get.
//
//   import:    {"messages":[{as of a push, and "attempt","tallies","state","pushed","reason"}]}
//              -> as a batch of pushes; "if_exists" is "reject" (the default, whatever the queue's
//                 rule) or "keep"
//   move-away: {"messages":[{"key","id","due","priority","tallies","state"}]}
//              -> {"results":[{"key","outcome"}]}; deletes only messages that have not changed
//
// "state" is "dead", or left out for a waiting message ("scheduled" and "ready" mean the same).
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "core/request.h"
#include "wire/parts/batch.h"

namespace tarry::wire {

/// Errors: `invalid_argument` for headers that are ill-formed.
[[nodiscard]] Result<std::string> encode_move(const core::MoveRequest& request);
[[nodiscard]] Result<Decoded<core::MoveRequest>> decode_move(std::string queue,
                                                             std::string_view body);

/// Writes a cancel whose `seen` has an entry for every key; decoding returns such a cancel.
[[nodiscard]] std::string encode_move_away(const core::CancelRequest& request);
[[nodiscard]] Result<Decoded<core::CancelRequest>> decode_move_away(std::string queue,
                                                                    std::string_view body);

}  // namespace tarry::wire
