// FairPart: what one of several relays gives back and takes, so that each has as many units as the
// others, give or take one, and no more units move than necessary.
//
// A relay's part depends on its rank, which is the order of arrival: the remainder goes to the
// first arrivals. So a new relay takes only its own part, from those that now have more than
// theirs. When a relay leaves, no other has to give anything back.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "relay/coordination/share.h"

namespace tarry::relay {

/// `members` is at least 1, `rank` below it.
[[nodiscard]] std::size_t fair_count(std::size_t units, std::size_t members, std::size_t rank);

struct FairPart {
  std::vector<Unit> release;
  std::vector<Unit> take;   // units without an owner; another relay may be faster
  std::size_t lacking = 0;  // beyond `take`, until others release theirs
};

/// `all`: rising; `taken`: by anybody, `mine` among them.
[[nodiscard]] FairPart fair_part(const std::vector<Unit>& all, const std::set<Unit>& mine,
                                 const std::set<Unit>& taken, std::size_t members,
                                 std::size_t rank);

}  // namespace tarry::relay
