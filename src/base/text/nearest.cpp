#include "base/text/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text/text.h"

namespace tarry::base {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment, three rows of the table at a time.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kLongest = 64;  // a longer word is no typing error
  if (word.size() > kLongest) return {};
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? std::string() : "; did you mean " + quoted(meant) + "?";
}

}  // namespace tarry::base
