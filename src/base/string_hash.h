// StringHash: for hash tables with string keys, so that a string_view finds a key without being
// copied.
//
// Thread safety: has no state.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace tarry::base {

struct StringHash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};

}  // namespace tarry::base
