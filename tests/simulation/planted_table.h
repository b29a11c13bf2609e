// The planted bugs (base/planted.h): the simulator gets a store with each of these mistakes in
// turn, and must detect it within 1,000 seeds.
#pragma once

#include <string>

namespace tarry::simulation {

/// `which`: a bug's name, or "all". Prints one line per bug: its name, the seed, and what was
/// noticed. Returns 0 if all were found, and 2 if this build has no planted bugs.
int find_planted(const std::string& which, unsigned jobs);

}  // namespace tarry::simulation
