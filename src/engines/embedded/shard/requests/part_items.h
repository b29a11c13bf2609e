// The items of a request that belong to a part.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tarry/result.h>

#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

/// `all`: the number of items in the whole request.
[[nodiscard]] inline std::size_t item_count(const Part& part, std::size_t all) noexcept {
  return part.all_items ? all : part.items.size();
}

/// Calls `f(i)` for each item of the part. `i` is the item's number in the whole request.
template <typename F>
void each_item(const Part& part, std::size_t all, F&& f) {
  if (part.all_items) {
    for (std::size_t i = 0; i < all; ++i) f(i);
  } else {
    for (const std::uint32_t i : part.items) f(std::size_t{i});
  }
}

/// Gives `error` to all items of the part that have no error yet.
template <typename Items>
void fail_items(const Part& part, Items& items, const Error& error) {
  each_item(part, items.size(), [&](std::size_t i) {
    if (!items[i].error) items[i].error = error;
  });
}

}  // namespace tarry::embedded
