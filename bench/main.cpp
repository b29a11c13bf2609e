// tarry_figures: measures what FIGURES.md asks for. scripts/bench builds and runs it.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "figures/figures.h"

namespace tarry::bench {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Measures tarry against its rivals and limits.");
  std::vector<std::string> wanted;
  RunOptions options;
  options.directory = "/tmp";
  std::string out;
  app.add_option("figure", wanted, "F1 F4 …; all where none is named");
  app.add_option("--rounds", options.rounds, "Rounds of each")->check(CLI::Range(1, 100));
  app.add_option("--scale", options.scale, "Of the numbers of messages")
      ->check(CLI::Range(0.001, 100.0));
  app.add_option("--dir", options.directory, "Where stores are made")
      ->check(CLI::ExistingDirectory);
  app.add_option("--out", out, "A file to append JSON lines to");
  CLI11_PARSE(app, argc, argv);
  Run run(options);
  for (const Measurement& measurement : measurements()) {
    const bool asked = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& id) {
      return std::find(measurement.ids.begin(), measurement.ids.end(), id) != measurement.ids.end();
    });
    if (!wanted.empty() && !asked) continue;
    measurement.measure(run);
  }
  std::fputs(table_of(run.lines(), 0).c_str(), stdout);
  const bool ok = std::all_of(run.lines().begin(), run.lines().end(),
                              [](const Line& line) { return line.ok(); });
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace tarry::bench

int main(int argc, char** argv) { return tarry::bench::run(argc, argv); }
