#include "planted_table.h"

#include <algorithm>
#include <cstdio>

#include "base/planted.h"
#include "runner.h"

namespace tarry::simulation {

#ifdef TARRY_PLANTED

int find_planted(const std::string& which, unsigned jobs) {
  constexpr std::uint64_t kSeeds = 1000;
  int code = 0;
  std::size_t tried = 0;
  std::printf("%-28s %6s %9s  %s\n", "PLANTED BUG", "SEED", "INVARIANT", "WHAT WAS NOTICED");
  for (const base::PlantedBug& bug : base::kPlantedBugs) {
    if (which != "all" && which != bug.name) continue;
    ++tried;
    base::planted_bug = bug.bug;
    Plan plan;
    plan.seeds = kSeeds;
    plan.jobs = jobs;
    // Finds the lowest seed that shows the bug; each process stops at its own first find.
    const Report report = run(plan);
    base::planted_bug = base::Bug::none;
    if (report.finds.empty()) {
      std::printf("%-28s %6s\n", bug.name, "none");
      code = 1;
      continue;
    }
    const Find& find = report.finds.front();
    const std::string invariant = find.invariant == 0 ? "abort" : std::to_string(find.invariant);
    std::printf("%-28s %6llu %9s  %.60s\n", bug.name, static_cast<unsigned long long>(find.seed),
                invariant.c_str(), find.what.substr(0, find.what.find('\n')).c_str());
    std::fflush(stdout);
  }
  if (tried == 0) std::printf("there is no planted bug %s\n", which.c_str());
  std::printf("%zu bugs planted\n", tried);
  return tried == 0 ? 2 : code;
}

#else

int find_planted(const std::string& /*which*/, unsigned /*jobs*/) {
  std::puts("this build has no planted bugs: tarry_simulate_planted has");
  return 2;
}

#endif

}  // namespace tarry::simulation
