#include "relay/coordination/fair_part.h"

#include <algorithm>

namespace tarry::relay {

std::size_t fair_count(std::size_t units, std::size_t members, std::size_t rank) {
  return units / members + (rank < units % members ? 1 : 0);
}

FairPart fair_part(const std::vector<Unit>& all, const std::set<Unit>& mine,
                   const std::set<Unit>& taken, std::size_t members, std::size_t rank) {
  FairPart part;
  std::vector<Unit> kept;
  for (const Unit& unit : mine) {
    const bool there = std::ranges::binary_search(all, unit);
    (there ? kept : part.release).push_back(unit);
  }
  const std::size_t due = fair_count(all.size(), members, rank);
  while (kept.size() > due) {
    part.release.push_back(kept.back());
    kept.pop_back();
  }
  std::vector<Unit> free;
  for (const Unit& unit : all) {
    if (!taken.contains(unit)) free.push_back(unit);
  }
  const std::size_t wanted = due - kept.size();
  const std::size_t count = std::min(wanted, free.size());
  // Each relay begins at another place, so that two relays do not try to take the same units.
  const std::size_t first = free.size() * rank / members;
  for (std::size_t i = 0; i < count; ++i) part.take.push_back(free[(first + i) % free.size()]);
  part.lacking = wanted - count;
  return part;
}

}  // namespace tarry::relay
