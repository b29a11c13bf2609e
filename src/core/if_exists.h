// The rules of `if_exists` by their names, for whatever reads one: flags, files, inboxes.
//
// Pure functions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <tarry/message.h>

namespace tarry::core {

/// reject, keep, replace, earlier, later: in the order of their numbers.
[[nodiscard]] const std::vector<std::string_view>& if_exists_names();
/// Empty where no rule is called so.
[[nodiscard]] std::optional<IfExists> if_exists_from(std::string_view name) noexcept;

}  // namespace tarry::core
