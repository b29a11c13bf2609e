#include "server/console/assets.h"

#include <algorithm>

namespace tarry::console {

const Asset* find_asset(std::string_view name) noexcept {
  const std::span<const Asset> all = assets();
  const auto found = std::ranges::find(all, name, &Asset::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tarry::console
