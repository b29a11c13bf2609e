// FairPart: which units one of several relays gives up and takes. In the end the relays' numbers of
// units differ by at most one, and no more units move than necessary.
//
// A relay's part depends on its rank, which is the order of arrival: the remainder goes to the
// first arrivals. So a new relay takes units only from relays that have more than their part now.
// When a relay leaves, no other relay has to give up a unit.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "relay/coordination/share.h"

namespace tarry::relay {

/// How many units the relay of this rank gets. `members` is at least 1, and `rank` is below
/// `members`.
[[nodiscard]] std::size_t fair_count(std::size_t units, std::size_t members, std::size_t rank);

struct FairPart {
  std::vector<Unit> release;
  std::vector<Unit> take;   // units without an owner; another relay may take them first
  std::size_t lacking = 0;  // units missing besides `take`, until other relays give theirs up
};

/// `all`: all units, in rising order. `taken`: units that have an owner, including `mine`.
[[nodiscard]] FairPart fair_part(const std::vector<Unit>& all, const std::set<Unit>& mine,
                                 const std::set<Unit>& taken, std::size_t members,
                                 std::size_t rank);

}  // namespace tarry::relay
