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

/// The largest payload as base64, and room for the rest.
inline constexpr std::size_t kLongestLine = (core::kMaxMaxPayload / 3 + 1) * 4 + (1u << 20);

/// The one message that the reader's line stands for. Errors: `invalid_argument`, `too_large`.
[[nodiscard]] Result<core::PushRequest> read_push_line(std::string_view queue,
                                                       const LineReader& reader,
                                                       std::string_view line);

}  // namespace tarry::app
