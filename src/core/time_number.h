// A time that comes as a bare number, and the unit that it can be in.
//
// Any number is one time in milliseconds and another in seconds; only one of them is meant.
// Milliseconds of today have 13 digits, seconds of today 10: a number of the other unit's size is
// refused, never guessed at. 0 is the same time in both. An earlier time is said as text (RFC
// 3339), which leaves no doubt. Durations are not looked at here: any number may be one.
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

/// The least time in milliseconds since 1970 that a number may say, besides 0: it is in September
/// 2001. As seconds it is in the year 33658.
inline constexpr std::int64_t kLeastTimeNumberMs = 1'000'000'000'000;
/// The most seconds since 1970 that a number may say: the end of the year 2200. As milliseconds it
/// is in March 1970.
inline constexpr std::int64_t kMostTimeNumberSeconds = base::kMaxTimeMs / 1000;

/// Nothing, or `invalid_argument` where `number` has the size of the other unit. `what` names it in
/// the error, as "due_ms" in quotes. Times before 1970 and after 2200 in the unit itself are left
/// to check_due.
[[nodiscard]] std::optional<Error> check_time_number(std::string_view what, std::int64_t number,
                                                     TimeUnit unit = TimeUnit::milliseconds);

/// RFC 3339, or digits: milliseconds that check_time_number lets pass. From 1970 to kMaxTimeMs.
/// Errors: `invalid_argument`.
[[nodiscard]] Result<std::int64_t> parse_time_ms(std::string_view text);

}  // namespace tarry::core
