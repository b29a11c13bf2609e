#include "core/if_exists.h"

namespace tarry::core {

const std::vector<std::string_view>& if_exists_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const IfExists rule : kEveryIfExists) names.push_back(to_string(rule));
    return names;
  }();
  return kNames;
}

std::optional<IfExists> if_exists_from(std::string_view name) noexcept {
  for (const IfExists rule : kEveryIfExists) {
    if (name == to_string(rule)) return rule;
  }
  return std::nullopt;
}

}  // namespace tarry::core
