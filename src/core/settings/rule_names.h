// Settings that are a choice: the rules of such a setting, by their names.
//
// Pure functions.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace tarry::core {

/// The names of the rules, in their order. `to_string` must be found for the rule's type.
template <typename Rule>
[[nodiscard]] std::vector<std::string_view> names_of(std::initializer_list<Rule> rules) {
  std::vector<std::string_view> names;
  for (const Rule rule : rules) names.push_back(to_string(rule));
  return names;
}

/// Empty if no rule has this name.
template <typename Rule>
[[nodiscard]] std::optional<Rule> rule_named(std::string_view name,
                                             std::initializer_list<Rule> rules) noexcept {
  for (const Rule rule : rules) {
    if (name == to_string(rule)) return rule;
  }
  return std::nullopt;
}

}  // namespace tarry::core
