// FairPart: what one of several relays gives back and takes so that each comes to as many units as
// the others, but for one, and no more units move than must.
//
// As many as each is due depends on its rank, which is the order of coming: the remainder goes to
// those that came first. So one that comes takes only what its own part is, from those that have
// more than theirs then; and where one goes, nobody has to give anything back.
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
  std::vector<Unit> take;   // of those that nobody has; another may be faster
  std::size_t lacking = 0;  // beyond `take`, until others release theirs
};

/// `all`: rising; `taken`: by anybody, `mine` among them.
[[nodiscard]] FairPart fair_part(const std::vector<Unit>& all, const std::set<Unit>& mine,
                                 const std::set<Unit>& taken, std::size_t members,
                                 std::size_t rank);

}  // namespace tarry::relay
