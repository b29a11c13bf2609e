// tarry_simulate: runs worlds until one fails. scripts/simulate builds and runs it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <thread>

#include "planted_table.h"
#include "runner.h"
#include "shrink.h"

namespace {

using namespace tarry::simulation;

// With fewer seeds than this, a rare branch may not have been taken by chance.
constexpr std::uint64_t kSeedsForAllMarks = 20'000;

void print(const Report& report) {
  for (const auto& [name, count] : report.figures) {
    std::printf("  %12llu  %s\n", static_cast<unsigned long long>(count), name.c_str());
  }
  std::printf("%llu seeds in %.1f s, %.1f seeds/s, failures %zu\n",
              static_cast<unsigned long long>(report.lived), report.seconds,
              static_cast<double>(report.lived) / report.seconds, report.finds.size());
}

int live_one(std::uint64_t seed, const std::vector<std::size_t>& keep) {
  const Options options = options_of(seed);
  std::vector<Step> script = script_of(options);
  if (!keep.empty()) script = kept(script, keep);
  std::cout << "seed " << seed << ": " << to_string(options) << "\n";
  for (const Step& step : script) std::cout << "  " << to_string(step) << "\n";
  const Life life = World(options).live(script);
  if (!life.failure) {
    std::cout << "nothing found\n";
    return 0;
  }
  std::cout << "at step " << life.failed_at << ", invariant " << life.failure->invariant << ": "
            << life.failure->what << "\n";
  return 1;
}

int live_many(Plan plan, bool all_figures) {
  std::printf("seeds %llu and on, %u at a time\n", static_cast<unsigned long long>(plan.first),
              plan.jobs);
  std::fflush(stdout);
  if (isatty(STDERR_FILENO) != 0) {
    plan.progress = [&plan](std::uint64_t done) {
      std::fprintf(stderr, "\r%llu of %llu", static_cast<unsigned long long>(done),
                   static_cast<unsigned long long>(plan.seeds));
    };
  }
  const Report report = run(plan);
  if (plan.progress) std::fprintf(stderr, "\r\033[K");
  if (all_figures) {
    print(report);
  } else {
    Report brief = report;
    std::erase_if(brief.figures, [](const auto& entry) {
      return entry.first.starts_with("step.") || entry.first.starts_with("mark.");
    });
    print(brief);
  }
  int code = 0;
  for (const Find& find : report.finds) {
    std::cout << explain(find);
    code = 1;
  }
  const auto missing = missing_marks(report.figures);
  if (report.lived >= kSeedsForAllMarks && code == 0) {
    for (const std::string& mark : missing) {
      std::cout << "no world took the branch \"" << mark << "\"\n";
      code = 1;
    }
  }
  std::printf("branches of recovery and cleaning not taken: %zu\n", missing.size());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Lives worlds of the embedded engine, each drawn from a seed, until one fails.");
  Plan plan;
  plan.jobs = std::max(1u, std::thread::hardware_concurrency());
  std::uint64_t seed = 0;
  std::vector<std::size_t> keep;
  bool figures = false;
  std::string planted;
  app.add_option("--seeds", plan.seeds, "so many worlds (default: 1000)")
      ->check(CLI::PositiveNumber);
  app.add_option("--first", plan.first, "the first one's seed (default: 1)");
  app.add_option("--jobs", plan.jobs, "so many at a time (default: one a core)")
      ->check(CLI::Range(1, 256));
  app.add_option("--seconds", plan.seconds, "no new one after that time");
  const auto* one = app.add_option("--seed", seed, "live this one and show its script");
  app.add_option("--keep", keep, "with --seed: only these steps of it, as 3,17,22")->delimiter(',');
  app.add_flag("--figures", figures, "all figures, of steps and branches too");
  const auto* bugs = app.add_option("--planted", planted,
                                    "plant this bug, or each in turn (\"all\"); in 1,000 seeds it "
                                    "must be found");
  CLI11_PARSE(app, argc, argv);
  if (bugs->count() > 0) return find_planted(planted, plan.jobs);
  if (one->count() > 0) return live_one(seed, keep);
  return live_many(plan, figures);
}
