// How a store adopts the history of an imported message.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tarry/message.h>

namespace tarry::core {

inline constexpr std::uint32_t kMaxTally = 2'147'483'647;

/// The message's tallies, limited so that they can still grow. A receipt names a claim by the
/// number of claims so far, so that number must neither stop growing nor overflow.
[[nodiscard]] inline Tallies carried(const Tallies& tallies) noexcept {
  const auto most = [](std::uint32_t tally) { return std::min(tally, kMaxTally); };
  return {.claims = most(tallies.claims),
          .run_outs = most(tallies.run_outs),
          .releases = most(tallies.releases),
          .buries = most(tallies.buries),
          .revives = most(tallies.revives)};
}

}  // namespace tarry::core
