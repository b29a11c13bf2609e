// One line of a file of messages (`tarry push --jsonl`).
//
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <string_view>

#include <tarry/result.h>

#include "app/system/line_reader.h"
#include "core/limits.h"
#include "core/request.h"

namespace tarry::app {

/// Room for the largest payload in base64, and 1 MiB for the other fields.
inline constexpr std::size_t kLongestLine = (core::kMaxMaxPayload / 3 + 1) * 4 + (1u << 20);

/// Reads the line as a request that pushes one message. Errors: `invalid_argument`, `too_large`.
[[nodiscard]] Result<core::PushRequest> read_push_line(std::string_view queue,
                                                       const LineReader& reader,
                                                       std::string_view line);

}  // namespace tarry::app
