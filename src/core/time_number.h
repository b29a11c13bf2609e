// Times given as plain numbers, and their unit.
//
// A number is one time in milliseconds and another in seconds; the user means one of them.
// Milliseconds of today have 13 digits, seconds of today 10: a number of the other unit's size is
// refused, never guessed. 0 is the same time in both. Give an earlier time as text (RFC 3339),
// which is unambiguous. Durations are not checked here: any number may be one.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tarry/result.h>

#include "base/text.h"

namespace tarry::core {

enum class TimeUnit : std::uint8_t { milliseconds, seconds };

/// The smallest number, besides 0, that is accepted as milliseconds since 1970: in September 2001.
/// As seconds it would be in the year 33658.
inline constexpr std::int64_t kLeastTimeNumberMs = 1'000'000'000'000;
/// The largest number that is accepted as seconds since 1970: the end of the year 2200. As
/// milliseconds it would be in March 1970.
inline constexpr std::int64_t kMostTimeNumberSeconds = base::kMaxTimeMs / 1000;

/// Nothing, or `invalid_argument` if `number` has the size of the other unit. `what` names it in
/// the error, like "due_ms" in quotes. check_due refuses times before 1970 and after 2200 in the
/// unit itself.
[[nodiscard]] std::optional<Error> check_time_number(std::string_view what, std::int64_t number,
                                                     TimeUnit unit = TimeUnit::milliseconds);

/// RFC 3339, or digits: milliseconds that check_time_number accepts. From 1970 to kMaxTimeMs.
/// Errors: `invalid_argument`.
[[nodiscard]] Result<std::int64_t> parse_time_ms(std::string_view text);

}  // namespace tarry::core
