// Text that people type and read: durations, times, sizes, numbers, and values quoted in messages.
// The rules are strict, and the same for flags, URLs, JSON and configuration. Errors are always
// `invalid_argument`; they name the value and show a valid one.
//
// Thread safety: pure functions; the locale plays no part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::base {

/// 100 years of 365.25 days, the longest duration that is accepted.
inline constexpr std::int64_t kMaxDurationMs = 3'155'760'000'000;
/// The last millisecond of the year 2200 (UTC), the latest time that is accepted.
inline constexpr std::int64_t kMaxTimeMs = 7'289'654'399'999;

/// Reads `500us 250ms 30s 15m 2h 7d`, or several parts from large to small (`1h30m`), the last of
/// which may have a fraction (`1.5s`). Also reads ISO 8601 (`PT30M`, `P1DT2H`, `P2W`), but no years
/// and months, because their length varies. Rounded up to ms. Refused: a number without a unit, a
/// negative duration, or one over kMaxDurationMs.
[[nodiscard]] Result<std::int64_t> parse_duration_ms(std::string_view text);

/// `30s`, `1h30m`, `250ms`, `1.5s`, `0s`: the text is exact, and is read back as the same value.
[[nodiscard]] std::string format_duration_ms(std::int64_t ms);

/// Reads RFC 3339 with an offset (`2026-11-20T10:00:00Z`, `…+08:00`), or a number of milliseconds
/// since 1970. Fractions of any length are rounded up to ms; the seconds may be left out. The time
/// must be from 1970 to kMaxTimeMs. (core::parse_time_ms also refuses numbers that look like
/// seconds.)
[[nodiscard]] Result<std::int64_t> parse_time_ms(std::string_view text);

/// `2026-11-20T10:00:00.000Z`.
[[nodiscard]] std::string format_time_ms(std::int64_t epoch_ms);

/// Decimal digits only, from min to max. `what` names the value in the error: `max "0" is ...`.
[[nodiscard]] Result<std::uint64_t> parse_u64(std::string_view text, std::string_view what,
                                              std::uint64_t min, std::uint64_t max);

/// Reads a size: `512B`, `1KiB 64MiB 2GiB 1TiB` (powers of 1024), `10kB 10MB 1GB 1TB` (powers of
/// 1000; `KB` means `kB`), or digits alone for bytes. Answers bytes.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

/// Prints text in double quotes, so that it fits into one line of a terminal or a log: it escapes
/// control bytes, quotes, backslashes, invalid UTF-8, and the characters that break or reverse a
/// line. A text of more than `max` bytes is cut, followed by `…(N bytes)` with its full length.
///
/// `quoted` is an object, not a function: with a function, a std::string argument would select
/// std::quoted instead.
struct Quoted {
  [[nodiscard]] std::string operator()(std::string_view text, std::size_t max = 64) const;
};
inline constexpr Quoted quoted{};

/// A path in the form for a URL: letters, digits, `-`, `.`, `_` and `/` stay as they are, every
/// other byte becomes % and two hex digits.
[[nodiscard]] std::string path_in_url(std::string_view path);

/// The part of `text` after `prefix`; all of `text` if it does not begin with `prefix`.
[[nodiscard]] constexpr std::string_view without_prefix(std::string_view text,
                                                        std::string_view prefix) noexcept {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// Strict: no overlong forms, no surrogates, nothing over U+10FFFF. Empty is valid.
[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

}  // namespace tarry::base
