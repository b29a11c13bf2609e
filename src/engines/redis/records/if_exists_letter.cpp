#include "engines/redis/records/if_exists_letter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tarry::redis {
namespace {

using Row = std::pair<char, IfExists>;
constexpr std::array<Row, 5> kRows = {{{'r', IfExists::reject},
                                       {'k', IfExists::keep},
                                       {'p', IfExists::replace},
                                       {'e', IfExists::earlier},
                                       {'l', IfExists::later}}};

}  // namespace

char letter_of(IfExists rule) noexcept {
  return std::ranges::find(kRows, rule, &Row::second)->first;
}

std::optional<IfExists> rule_of(char letter) noexcept {
  const auto* row = std::ranges::find(kRows, letter, &Row::first);
  return row == kRows.end() ? std::nullopt : std::optional(row->second);
}

}  // namespace tarry::redis
