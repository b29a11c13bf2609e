// "did you mean ...?": the known word that a mistyped one was probably meant to be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::base {

/// Letters to insert, remove, change, or swap with their neighbour, to make one of the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `known`, or an empty view where none is near: over a third of the letters wrong.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& known);

/// `; did you mean "order"?`, to end a message with; empty where none of `known` is near.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string_view>& known);

}  // namespace tarry::base
