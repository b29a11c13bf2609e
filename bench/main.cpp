// tarry_figures: measures the figures that tarry must reach, against its rivals and its limits.
// scripts/bench builds and runs it.
//
// Exit codes: 0 all figures are good enough, 1 one is worse, 2 usage, 3 something failed.
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "app/output/terminal.h"
#include "figures/figures.h"
#include "figures/plots.h"
#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr int kWorse = 1;
constexpr int kUsage = 2;

bool has(const Measurement& measurement, std::string_view id) {
  return std::find(measurement.ids.begin(), measurement.ids.end(), id) != measurement.ids.end();
}

std::string unknown_in(const std::vector<std::string>& wanted) {
  for (const std::string& id : wanted) {
    const bool known = std::any_of(measurements().begin(), measurements().end(),
                                   [&](const Measurement& m) { return has(m, id); });
    if (!known) return id;
  }
  return {};
}

std::string all_ids() {
  std::string all;
  for (const Measurement& measurement : measurements()) {
    for (const std::string_view id : measurement.ids) all.append(" ").append(id);
  }
  return all;
}

void append_lines(const std::string& path, const std::vector<Line>& lines) {
  std::FILE* const file = std::fopen(path.c_str(), "a");
  if (file == nullptr) give_up(path, "it cannot be written");
  for (const Line& line : lines) std::fprintf(file, "%s\n", json_of(line).c_str());
  must(std::fclose(file) == 0, "the lines are written to " + path);
}

int run(int argc, char** argv) {
  CLI::App app("Measures tarry against its rivals and limits, each in the same run.");
  std::vector<std::string> wanted;
  RunOptions options;
  options.directory = ".";
  std::string out;
  std::string plots;
  std::string format = "table";
  app.add_option("figure", wanted, "F1 F4 ...; all where none is named");
  app.add_option("--rounds", options.rounds, "Rounds of each")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--scale", options.scale, "Times the usual numbers of messages")
      ->check(CLI::Range(0.001, 100.0))
      ->capture_default_str();
  app.add_option("--dir", options.directory, "Where stores are made: on the disk to be measured")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--plots", plots, "Draws the pictures into this directory, and measures no figure")
      ->check(CLI::ExistingDirectory);
  app.add_option("--out", out, "A file to append a line of JSON for each figure to");
  app.add_option("-o,--output", format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (const std::string unknown = unknown_in(wanted); !unknown.empty()) {
    std::fprintf(stderr, "bench: there is no figure %s; there are%s\n", unknown.c_str(),
                 all_ids().c_str());
    return kUsage;
  }

  struct statfs file_system{};
  if (::statfs(options.directory.c_str(), &file_system) == 0 && file_system.f_type == TMPFS_MAGIC) {
    std::fprintf(stderr, "bench: %s is in RAM (tmpfs): name a directory on a disk with --dir\n",
                 options.directory.c_str());
    return kUsage;
  }

  Run run(options);
  if (!plots.empty()) {
    draw_plots(run, plots);
    return 0;
  }
  for (const Measurement& measurement : measurements()) {
    const bool asked =
        wanted.empty() || std::any_of(wanted.begin(), wanted.end(),
                                      [&](const std::string& id) { return has(measurement, id); });
    if (!asked) continue;
    run.begin(measurement.ids.front());
    measurement.measure(run);
  }
  if (!out.empty()) append_lines(out, run.lines());
  if (format == "json") {
    for (const Line& line : run.lines()) std::printf("%s\n", json_of(line).c_str());
  } else {
    std::fputs(table_of(run.lines(), tarry::app::Terminal(STDOUT_FILENO).width()).c_str(), stdout);
  }
  const bool ok = std::all_of(run.lines().begin(), run.lines().end(),
                              [](const Line& line) { return line.ok(); });
  return ok ? 0 : kWorse;
}

}  // namespace
}  // namespace tarry::bench

int main(int argc, char** argv) { return tarry::bench::run(argc, argv); }
