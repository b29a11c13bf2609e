#include "shrink.h"

#include <algorithm>
#include <numeric>

#include "world.h"

namespace tarry::simulation {

std::vector<Step> kept(const std::vector<Step>& script, const std::vector<std::size_t>& indices) {
  std::vector<Step> steps;
  steps.reserve(indices.size());
  for (const std::size_t i : indices) steps.push_back(script[i]);
  return steps;
}

std::vector<std::size_t> shrink(const Options& options, const std::vector<Step>& script,
                                int invariant, int most_lives) {
  std::vector<std::size_t> indices(script.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const auto fails = [&](const std::vector<std::size_t>& candidate) {
    --most_lives;
    const Life life = World(options).live(kept(script, candidate));
    return life.failure && life.failure->invariant == invariant;
  };
  for (std::size_t piece = std::max<std::size_t>(indices.size() / 2, 1); most_lives > 0;) {
    bool shorter = false;
    for (std::size_t at = 0; at < indices.size() && most_lives > 0;) {
      std::vector<std::size_t> candidate = indices;
      const auto begin = candidate.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t size = std::min(piece, candidate.size() - at);
      candidate.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
      if (fails(candidate)) {
        indices = std::move(candidate);
        shorter = true;
      } else {
        at += piece;
      }
    }
    if (piece == 1 && !shorter) break;
    if (piece > 1) piece = std::max<std::size_t>(piece / 2, 1);
  }
  return indices;
}

}  // namespace tarry::simulation
