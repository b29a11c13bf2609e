#include "app/pictures/queue_flow.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace tarry::app {

Flow flow_between(const FlowLook& first, const FlowLook& second, Millis elapsed) {
  TARRY_ASSERT(elapsed > Millis(0));
  const double seconds = static_cast<double>(elapsed.count()) / 1000;
  const auto grown = [](std::uint64_t before, std::uint64_t after) {
    return static_cast<double>(after) - static_cast<double>(before);
  };
  // More digits than people read would say more than a few seconds can tell.
  const auto rounded = [](double rate) {
    const double scale = rate >= 100 ? 1 : 10;
    return std::round(rate * scale) / scale;
  };
  // The counter of a queue that was removed meanwhile begins again.
  const double claims = std::max(0.0, grown(first.claims, second.claims));
  const double came = claims + grown(first.pending, second.pending);
  return {rounded(claims / seconds), rounded(std::max(0.0, came) / seconds)};
}

}  // namespace tarry::app
