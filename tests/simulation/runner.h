// Runner: runs many worlds, in several processes, so that a process that aborts is a find like any
// other.
//
// Thread safety: none; it forks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "world.h"

namespace tarry::simulation {

struct Find {
  std::uint64_t seed = 0;
  std::size_t step = 0;
  int invariant = 0;  // 0: the process died
  std::string what;
};

struct Plan {
  std::uint64_t first = 1;
  std::uint64_t seeds = 1000;
  unsigned jobs = 1;
  double seconds = 0;  // 0: no limit
  std::function<void(std::uint64_t done)> progress;
};

struct Report {
  std::uint64_t lived = 0;
  double seconds = 0;
  std::vector<Find> finds;  // at most one per process, the lowest seed first
  Figures figures;
};

/// Runs the seeds first, first + 1, …; each process stops at its first find.
[[nodiscard]] Report run(const Plan& plan);

/// The shortened script of the find's seed, as text. Runs in a process of its own.
[[nodiscard]] std::string explain(const Find& find);

/// Branches of recovery and cleaning that no world has taken.
[[nodiscard]] std::vector<std::string> missing_marks(const Figures& figures);

}  // namespace tarry::simulation
