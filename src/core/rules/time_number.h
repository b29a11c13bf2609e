// Times given as plain numbers, and their unit.
//
// The same number means different times in milliseconds and in seconds. Today's time has 13 digits
// in milliseconds and 10 in seconds. So a number that has the size of the other unit is refused,
// never guessed. 0 is the same time in both. Give an earlier time as text (RFC 3339), which is
// unambiguous. Durations are not checked here: any number may be one.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tarry/result.h>

#include "base/text/text.h"

namespace tarry::core {

enum class TimeUnit : std::uint8_t { milliseconds, seconds };

/// The smallest number, besides 0, that is accepted as milliseconds since 1970. It is in September
/// 2001; read as seconds it would be in the year 33658.
inline constexpr std::int64_t kLeastTimeNumberMs = 1'000'000'000'000;
/// The largest number that is accepted as seconds since 1970. It is the end of the year 2200; read
/// as milliseconds it would be in March 1970.
inline constexpr std::int64_t kMostTimeNumberSeconds = base::kMaxTimeMs / 1000;

/// Error: `invalid_argument` if `number` has the size of the other unit, or is a time before 1970
/// or after kMaxTimeMs. `what` names the value in the error, for example "due_ms" in quotes.
[[nodiscard]] std::optional<Error> check_time_number(std::string_view what, std::int64_t number,
                                                     TimeUnit unit = TimeUnit::milliseconds);

/// Reads RFC 3339, or digits for milliseconds, which check_time_number must accept. The time must
/// be from 1970 to kMaxTimeMs. Errors: `invalid_argument`.
[[nodiscard]] Result<std::int64_t> parse_time_ms(std::string_view text);

}  // namespace tarry::core
