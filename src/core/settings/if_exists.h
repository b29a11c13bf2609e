// The names of the rules of `if_exists`, for flags, files and inboxes.
//
// Pure functions.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <tarry/message.h>

namespace tarry::core {

/// All rules, in the order of their numbers.
inline constexpr std::initializer_list<IfExists> kEveryIfExists = {
    IfExists::reject, IfExists::keep, IfExists::replace, IfExists::earlier, IfExists::later};

/// The names of all rules, in the same order.
[[nodiscard]] const std::vector<std::string_view>& if_exists_names();
/// Empty if no rule has this name.
[[nodiscard]] std::optional<IfExists> if_exists_from(std::string_view name) noexcept;

}  // namespace tarry::core
