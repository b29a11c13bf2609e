// The meaning of a webhook's answer: confirmed, refused, or to be tried again, and when.
//
// A pure function.
#pragma once

#include <optional>
#include <string_view>

#include <tarry/time.h>

#include "relay/sink.h"

namespace tarry::relay {

/// `status`: 200 .. 599, of an answer that was received as a whole. `after`: the delay in
/// Retry-After.
[[nodiscard]] Answer webhook_answer(long status, std::string_view body,
                                    std::optional<Millis> after);

}  // namespace tarry::relay
