// Sums a figure of a store's report over the shards.
//
// Thread safety: a pure function.
#pragma once

#include <cstdint>
#include <numeric>

namespace tarry::app {

/// `Report`: the report that has `per_shard`: StoreInspection or SalvageReport.
template <typename Report, typename Shard>
std::uint64_t sum(const Report& report, std::uint64_t Shard::* figure) {
  return std::accumulate(
      report.per_shard.begin(), report.per_shard.end(), std::uint64_t{0},
      [&](std::uint64_t before, const Shard& shard) { return before + shard.*figure; });
}

}  // namespace tarry::app
