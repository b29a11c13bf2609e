// The text of a lateness objective: `99% within 1s`, or `none`.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>
#include <tarry/settings.h>

namespace tarry::core {

/// Thousandths of a percent. 100% leaves no message that may be late.
inline constexpr std::uint32_t kMinObjectiveShare = 1'000;
inline constexpr std::uint32_t kMaxObjectiveShare = 99'999;
inline constexpr std::int64_t kMaxObjectiveMs = 7ll * 24 * 3600 * 1000;

/// Reads `99.9% within 250ms`, or `none`. Error: `invalid_argument`, with the value and the limit.
[[nodiscard]] Result<Objective> parse_objective(std::string_view text);
[[nodiscard]] std::string objective_text(Objective objective);

/// Whether it is one that parse_objective can answer.
[[nodiscard]] bool is_objective(Objective objective) noexcept;

/// As one number, for stores: 0 if there is none.
[[nodiscard]] std::uint64_t objective_number(Objective objective) noexcept;
[[nodiscard]] Objective objective_of(std::uint64_t number) noexcept;

}  // namespace tarry::core
