// What a store makes of what an imported message has been through.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tarry/message.h>

namespace tarry::core {

inline constexpr std::uint32_t kMaxTally = 2'147'483'647;

/// Its tallies, no larger than leaves them room to be counted on. Receipts tell a message's claims
/// apart by their number, so that must neither stand still nor turn over.
[[nodiscard]] inline Tallies carried(const Tallies& tallies) noexcept {
  const auto most = [](std::uint32_t tally) { return std::min(tally, kMaxTally); };
  return {.claims = most(tallies.claims),
          .run_outs = most(tallies.run_outs),
          .releases = most(tallies.releases),
          .buries = most(tallies.buries),
          .revives = most(tallies.revives)};
}

}  // namespace tarry::core
