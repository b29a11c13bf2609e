// Java's strings: UTF-16, and the bytes that Java's codecs write for each unit.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tarry::redis {

/// Nothing for text that is not UTF-8.
[[nodiscard]] std::optional<std::u16string> java_units(std::string_view utf8);
/// Nothing for half of a surrogate pair, which UTF-8 does not have.
[[nodiscard]] std::optional<std::string> utf8_of(std::u16string_view units);

/// One to three bytes for each unit. `zero_is_two`: 0 as C0 80, as in Java's modified UTF-8.
[[nodiscard]] std::string unit_bytes(std::u16string_view units, bool zero_is_two);
/// The other way: reads `count` units. Nothing if they do not use exactly all `bytes`. Accepts both
/// spellings of 0.
[[nodiscard]] std::optional<std::u16string> units_in(std::string_view bytes, std::size_t count);

}  // namespace tarry::redis
