// Shrinking: shortens a failing script. It leaves out steps, large pieces first, as long as the
// script still fails by the same invariant (delta debugging, Zeller 2002).
#pragma once

#include <cstdint>
#include <vector>

#include "workload.h"

namespace tarry::simulation {

/// The indices of the steps that are kept, in order. Runs the script at most `most_lives` times.
[[nodiscard]] std::vector<std::size_t> shrink(const Options& options,
                                              const std::vector<Step>& script, int invariant,
                                              int most_lives = 3000);

[[nodiscard]] std::vector<Step> kept(const std::vector<Step>& script,
                                     const std::vector<std::size_t>& indices);

}  // namespace tarry::simulation
