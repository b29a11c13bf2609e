// Messages on their way from one store to another, on the wire: fields are spelt as get shows them.
//
//   import:    {"messages":[{as of a push, and "attempt","tallies","state","pushed","reason"}]}
//              -> as a batch of pushes; "if_exists" is "reject" or "keep", and "reject" where it is
//                 left out, whatever the queue's
//   move-away: {"messages":[{"key","id","due","priority","tallies","state"}]}
//              -> {"results":[{"key","outcome"}]}; goes only where it still is as it was seen
//
// "state" is "dead" or, of one that waits, left out ("scheduled" and "ready" are taken for that).
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "core/request.h"
#include "wire/batch.h"

namespace tarry::wire {

/// Errors: `invalid_argument` for headers that are ill-formed.
[[nodiscard]] Result<std::string> encode_move(const core::MoveRequest& request);
[[nodiscard]] Result<Decoded<core::MoveRequest>> decode_move(std::string queue,
                                                             std::string_view body);

/// Of a cancel that says of every key what was seen; what is read is one too.
[[nodiscard]] std::string encode_move_away(const core::CancelRequest& request);
[[nodiscard]] Result<Decoded<core::CancelRequest>> decode_move_away(std::string queue,
                                                                    std::string_view body);

}  // namespace tarry::wire
