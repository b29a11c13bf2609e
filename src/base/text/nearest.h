// "did you mean ...?": the known word that a mistyped one was probably meant to be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::base {

/// How many letters must be inserted, removed, changed, or swapped with their neighbour to turn one
/// word into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest word in `known`. Empty if none is near, which means that over a third of the letters
/// differ.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& known);

/// The end of a message: `; did you mean "order"?`. Empty if no word in `known` is near.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string_view>& known);

}  // namespace tarry::base
