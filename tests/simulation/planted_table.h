// The planted bugs (base/planted.h), each given to the simulator: a store with that mistake in it
// must be found out within 1,000 seeds.
#pragma once

#include <string>

namespace tarry::simulation {

/// `which`: a bug's name, or "all". Prints a line each: the bug, the seed, what was noticed. 0 if
/// all were found; 2 where this build has none planted.
int find_planted(const std::string& which, unsigned jobs);

}  // namespace tarry::simulation
