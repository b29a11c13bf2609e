// Text that people type and read: durations, times, sizes, numbers, and values quoted in messages.
// The same rules everywhere (flags, URLs, JSON, configuration): strict, with errors (always
// invalid_argument) that name the value and show a valid one.
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

/// `250ms 30s 15m 2h 7d`, also `500us`; parts from large to small (`1h30m`), a fraction in the last
/// one (`1.5s`); ISO 8601 (`PT30M`, `P1DT2H`, `P2W`) without years and months, whose length varies.
/// Rounded up to ms. Refused: no unit, a negative one, over kMaxDurationMs.
[[nodiscard]] Result<std::int64_t> parse_duration_ms(std::string_view text);

/// `30s`, `1h30m`, `250ms`, `1.5s`, `0s`: exact, and read back as the same value.
[[nodiscard]] std::string format_duration_ms(std::int64_t ms);

/// RFC 3339 with an offset (`2026-11-20T10:00:00Z`, `…+08:00`, fractions of any length rounded up
/// to ms; the seconds may be left out), or milliseconds since 1970. core::parse_time_ms refuses
/// numbers that are seconds. From 1970 to kMaxTimeMs.
[[nodiscard]] Result<std::int64_t> parse_time_ms(std::string_view text);

/// `2026-11-20T10:00:00.000Z`.
[[nodiscard]] std::string format_time_ms(std::int64_t epoch_ms);

/// Decimal digits only, from min to max. `what` names the value in the error: `max "0" is ...`.
[[nodiscard]] Result<std::uint64_t> parse_u64(std::string_view text, std::string_view what,
                                              std::uint64_t min, std::uint64_t max);

/// Bytes: `512B`, `1KiB 64MiB 2GiB 1TiB` (1024), `10kB 10MB 1GB 1TB` (1000; `KB` is read as `kB`),
/// or digits alone for bytes.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

/// In double quotes, fit for one line of a terminal or a log: control bytes, quotes, backslashes,
/// invalid UTF-8, and the characters that break or reverse a line are escaped. If it has more than
/// `max` bytes, only the beginning is shown, followed by `…(N bytes)` with the full length.
///
/// An object, not a function, so that a std::string argument does not find std::quoted instead.
struct Quoted {
  [[nodiscard]] std::string operator()(std::string_view text, std::size_t max = 64) const;
};
inline constexpr Quoted quoted{};

/// A path as it stands in a URL: letters, digits, `-`, `.`, `_` and `/` as they are, every other
/// byte as % and two hex digits.
[[nodiscard]] std::string path_in_url(std::string_view path);

/// The part of `text` after `prefix`, or all of it if it begins otherwise.
[[nodiscard]] constexpr std::string_view without_prefix(std::string_view text,
                                                        std::string_view prefix) noexcept {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// Strict: no overlong forms, no surrogates, nothing over U+10FFFF. Empty is valid.
[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

}  // namespace tarry::base
