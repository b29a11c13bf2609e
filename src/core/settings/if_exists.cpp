#include "core/settings/if_exists.h"

#include "core/settings/rule_names.h"

namespace tarry::core {

const std::vector<std::string_view>& if_exists_names() {
  static const std::vector<std::string_view> kNames = names_of(kEveryIfExists);
  return kNames;
}

std::optional<IfExists> if_exists_from(std::string_view name) noexcept {
  return rule_named(name, kEveryIfExists);
}

}  // namespace tarry::core
