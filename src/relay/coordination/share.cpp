#include "relay/coordination/share.h"

#include <algorithm>
#include <string_view>

#include "base/text/text.h"

namespace tarry::relay {

std::string spell_unit(const Unit& unit) { return unit.queue + "/" + std::to_string(unit.shard); }

bool read_unit(std::string_view text, Unit& unit) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return false;
  const auto shard = base::parse_u64(text.substr(slash + 1), "shard", 0, UINT32_MAX);
  if (!shard) return false;
  unit = {std::string(text.substr(0, slash)), static_cast<std::uint32_t>(*shard)};
  return true;
}

std::vector<Unit> units_of(const std::vector<Found>& found) {
  std::vector<Unit> units;
  for (const Found& one : found) {
    for (std::uint32_t shard = 0; shard < one.shards; ++shard) units.push_back({one.queue, shard});
  }
  return units;
}

std::vector<Share> whole(const std::vector<Found>& found) {
  std::vector<Share> shares;
  for (const Found& one : found) shares.push_back({one.queue, {}});
  return shares;
}

std::vector<Share> shares_of(const std::vector<Found>& found, const std::vector<Unit>& mine) {
  std::vector<Share> shares;
  for (const Found& one : found) {
    Share share{one.queue, {}};
    auto unit = std::ranges::lower_bound(mine, Unit{one.queue, 0});
    for (; unit != mine.end() && unit->queue == one.queue && unit->shard < one.shards; ++unit) {
      share.shards.push_back(unit->shard);
    }
    if (share.shards.empty()) continue;
    if (share.shards.size() == one.shards) share.shards.clear();
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace tarry::relay
