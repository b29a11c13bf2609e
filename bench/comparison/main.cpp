// tarry_designs: runs the delay queues of docs/designs.md one after the other, each on servers that
// it starts. It prints the measured figures of each design in each round as a line of JSON.
// scripts/bench designs runs it.
//
// Exit codes: 0 all designs that can run here did, 1 one failed, 2 usage.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "app/output/progress.h"
#include "comparison/apart.h"
#include "comparison/hosts.h"
#include "comparison/measures.h"

namespace tarry::bench {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

struct Measure {
  const char* what;
  void (*run)(const Job& job, Results& results);
  bool again;  // whether to run in each round, because results vary; otherwise only in the first
};
constexpr Measure kAll[] = {{"rates", measure_rates, true}, {"lateness", measure_lateness, true},
                            {"kills", measure_kills, true}, {"growth", measure_growth, false},
                            {"line", measure_line, false},  {"changes", measure_changes, false}};
constexpr Measure kCalm[] = {{"calm", measure_calm, true}, {"changes", measure_changes, true}};

struct Asked {
  std::vector<std::string> designs;   // none: all
  std::vector<std::string> measures;  // none: all
  std::string directory = ".";
  int rounds = 1;
  bool quick = false;
  bool calm = false;
  bool list = false;
};

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

std::vector<Measure> measures_of(const Asked& asked, int round) {
  std::vector<Measure> measures;
  for (const Measure& each : asked.calm ? std::span<const Measure>(kCalm) : kAll) {
    if ((round == 1 || each.again) && is_among(asked.measures, each.what)) measures.push_back(each);
  }
  return measures;
}

std::vector<const Entry*> entries_of(const Asked& asked) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : compared_designs()) {
    if (is_among(asked.designs, entry.id)) entries.push_back(&entry);
  }
  return entries;
}

// The progress of the whole run.
class Steps {
 public:
  explicit Steps(std::uint64_t all) : all_(all) {}
  void begin(std::string_view design, std::string_view measure) {
    bar_.show(done_, all_, done_ + 1, fmt::format("of {}, {}: {}", all_, design, measure));
    ++done_;
  }
  /// Prints a line in the place of the progress bar.
  void tell(const std::string& line) {
    bar_.clear();
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  void clear() { bar_.clear(); }

 private:
  const std::uint64_t all_;
  std::uint64_t done_ = 0;
  app::Progress bar_{"measuring", stderr, app::Terminal(STDERR_FILENO)};
};

Steps steps_of(const Asked& asked) {
  std::uint64_t able = 0;
  for (const Entry* const entry : entries_of(asked)) able += Hosts::missing(*entry).empty() ? 1 : 0;
  std::uint64_t all = 0;
  for (int round = 1; round <= asked.rounds; ++round)
    all += able * measures_of(asked, round).size();
  return Steps(all);
}

struct Told {
  std::string skipped;   // the reason, if it was skipped
  std::string failures;  // "growth: redis-server: OOM; ..."
  Results results;
};

Told told_of(const Entry& entry, Hosts& hosts, const Effort& effort,
             std::span<const Measure> measures, Steps& steps) {
  Told told;
  told.skipped = Hosts::missing(entry);
  if (!told.skipped.empty()) return told;
  for (const Measure& measure : measures) {
    steps.begin(entry.id, measure.what);
    Job job{entry, hosts, hosts.place(entry), effort};
    if (measure.run == measure_kills) job.place.lease_ms = effort.kill_lease_ms;
    const std::string failure = run_apart(
        [&](Results& results) {
          if (!entry.in_process && measure.run != measure_kills) {
            make_queue(entry, job.place);
          }
          measure.run(job, results);
        },
        told.results, effort.longest_s);
    if (failure.empty()) continue;
    steps.tell(fmt::format("{}: {} failed: {}", entry.id, measure.what, failure));
    told.failures += std::string(told.failures.empty() ? "" : "; ") + measure.what + ": " + failure;
  }
  // The next design uses the same broker, so the queue must be emptied.
  if ((entry.needs & kRabbit) != 0) {
    Results none;
    (void)run_apart([&, place = hosts.place(entry)](Results&) { make_queue(entry, place); }, none,
                    effort.longest_s);
  }
  return told;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<unsigned char>(c) >= 0x20) out.push_back(c);
  }
  return out;
}

std::string json_of(std::string_view id, int round, const Told& told) {
  std::string line =
      fmt::format(R"({{"id":"{}","round":{},"skipped":"{}","failures":"{}","results":{{)", id,
                  round, escaped(told.skipped), escaped(told.failures));
  for (const auto& [name, value] : told.results) {
    char number[40];
    std::snprintf(number, sizeof number, "%.6g", value);
    if (line.back() != '{') line.push_back(',');
    line.append("\"").append(name).append("\":").append(number);
  }
  return line + "}}";
}

void add_options(CLI::App& app, Asked& asked) {
  std::vector<std::string> measures;
  for (const Measure& each : kAll) measures.emplace_back(each.what);
  app.add_option("design", asked.designs, "Their ids; all where none is named");
  app.add_option("--measure", asked.measures, "Only these; all where none is named")
      ->check(CLI::IsMember(measures))
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--rounds", asked.rounds, "Rounds over all designs of what varies")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--quick", asked.quick, "Less of everything: minutes instead of an hour");
  app.add_flag("--calm", asked.calm,
               "Only whether each hands over what it was given, once and not early");
  app.add_flag("--list", asked.list, "The ids, and why one cannot run here");
  app.add_option("--dir", asked.directory, "Where files are made: on the disk to be measured")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
}

// Returns whether nothing failed.
bool measure_all(const Asked& asked) {
  bool well = true;
  Hosts hosts(asked.directory);
  Steps steps = steps_of(asked);
  for (int round = 1; round <= asked.rounds; ++round) {
    const std::vector<Measure> measures = measures_of(asked, round);
    if (measures.empty()) break;
    for (const Entry* const entry : entries_of(asked)) {
      const Told told =
          told_of(*entry, hosts, asked.quick ? quick_effort() : full_effort(), measures, steps);
      steps.clear();
      std::printf("%s\n", json_of(entry->id, round, told).c_str());
      std::fflush(stdout);
      well = well && told.failures.empty();
    }
  }
  return well;
}

int run(int argc, char** argv) {
  CLI::App app("Drives delay-queue designs side by side; tells what it measured as lines of JSON.");
  Asked asked;
  add_options(app, asked);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  for (const std::string& id : asked.designs) {
    if (std::ranges::find(compared_designs(), id, &Entry::id) == compared_designs().end()) {
      std::fprintf(stderr, "tarry_designs: there is no design %s; --list tells which there are\n",
                   id.c_str());
      return kUsage;
    }
  }
  if (asked.list) {
    for (const Entry* const entry : entries_of(asked)) {
      std::printf("%.*s\t%s\n", static_cast<int>(entry->id.size()), entry->id.data(),
                  Hosts::missing(*entry).c_str());
    }
    return 0;
  }
  return measure_all(asked) ? 0 : kFailed;
}

}  // namespace
}  // namespace tarry::bench

int main(int argc, char** argv) { return tarry::bench::run(argc, argv); }
