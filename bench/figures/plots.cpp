#include "figures/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include <tarry/store.h>

#include "app/commands/program/load_generator.h"
#include "app/output/progress.h"
#include "app/pictures/chart.h"
#include "app/pictures/lateness_plot.h"
#include "designs/lmdb_queue.h"
#include "designs/rocksdb_queue.h"
#include "designs/tarry_queue.h"
#include "figures/lifecycle.h"
#include "figures/standing.h"
#include "harness/must.h"
#include "harness/scratch.h"

namespace tarry::bench {
namespace {

using Make = std::unique_ptr<Design> (*)(const std::string& path, Sync sync);

struct Contestant {
  const char* name;
  Make make;
};
const Contestant kContestants[] = {
    {"tarry", [](const std::string& path, Sync sync) { return make_tarry_queue(path, sync, ""); }},
    {"RocksDB", make_rocksdb_queue},
    {"LMDB", make_lmdb_queue},
};

void write(const std::string& directory, const std::string& name, const std::string& text) {
  const std::string path = directory + "/" + name + ".svg";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) give_up(path, "it cannot be written");
  must(std::fwrite(text.data(), 1, text.size(), file) == text.size(), path + " is written");
  must(std::fclose(file) == 0, path + " is written");
}

std::string count_words(double count) {
  return app::grouped(static_cast<std::uint64_t>(std::llround(count)));
}

// The median over the rounds, in lifecycles per second.
double lifecycles(const Run& run, const Contestant& contestant, Lifecycle shape) {
  std::vector<double> rates;
  for (int round = 0; round < run.rounds(); ++round) {
    const Scratch scratch(run.directory());
    const auto design = contestant.make(scratch.path(), Sync::always);
    rates.push_back(lifecycles_per_second(*design, shape));
  }
  return median_of(rates).value;
}

// Small batches are slow, so the number of messages depends on the batch: each run takes about a
// second.
std::size_t enough(const Run& run, std::size_t batch) {
  return static_cast<std::size_t>(run.scaled(std::clamp<std::size_t>(500 * batch, 2'000, 200'000)));
}

void draw_lifecycles(const Run& run, const std::string& directory) {
  app::Chart chart;
  chart.y_words = [](double rate) { return count_words(rate) + "/s"; };
  chart.x_words = count_words;
  chart.title = "lifecycles a second, sync=always, 2 clients";
  chart.x_label = "messages in a batch";
  for (const Contestant& contestant : kContestants) {
    app::Series& series = chart.series.emplace_back();
    series.name = contestant.name;
    for (const std::size_t batch : {1u, 4u, 16u, 64u, 256u, 1024u}) {
      Lifecycle shape;
      shape.batch = batch;
      shape.clients = 2;
      shape.messages = enough(run, batch);
      series.points.emplace_back(double(batch), lifecycles(run, contestant, shape));
      run.note(fmt::format("{}, batches of {}: {}/s", contestant.name, batch,
                           count_words(series.points.back().second)));
    }
  }
  write(directory, "lifecycles-by-batch", app::svg_of(chart));

  chart.series.clear();
  chart.title = "lifecycles a second, sync=always, batches of 16";
  chart.x_label = "clients, each a thread";
  for (const Contestant& contestant : kContestants) {
    app::Series& series = chart.series.emplace_back();
    series.name = contestant.name;
    for (const std::size_t clients : {1u, 2u, 4u, 8u, 16u}) {
      Lifecycle shape;
      shape.batch = 16;
      shape.clients = clients;
      shape.messages = enough(run, 16 * clients);
      series.points.emplace_back(double(clients), lifecycles(run, contestant, shape));
      run.note(fmt::format("{}, {} clients: {}/s", contestant.name, clients,
                           count_words(series.points.back().second)));
    }
  }
  write(directory, "lifecycles-by-clients", app::svg_of(chart));
}

void draw_costs(const Run& run, const std::string& directory) {
  app::Chart chart;
  chart.title = "cost of a message, sync=os, batches of 256, due in a month";
  chart.x_label = "messages pending";
  chart.x_words = count_words;
  chart.y_words = [](double ns) { return count_words(ns) + " ns"; };
  chart.series = {{"push", {}}, {"claim", {}}};
  for (const std::uint64_t pending : {10'000u, 100'000u, 1'000'000u, 10'000'000u}) {
    const std::uint64_t count = std::max<std::uint64_t>(run.scaled(pending), 5'000);
    Standing standing(run.directory(), count);
    std::vector<double> push;
    std::vector<double> claim;
    for (int step = 0; step < 20 * run.rounds(); ++step) {
      const Standing::Cost cost = standing.step();
      push.push_back(cost.push_ns);
      claim.push_back(cost.claim_ns);
    }
    chart.series[0].points.emplace_back(double(count), median_of(push).value);
    chart.series[1].points.emplace_back(double(count), median_of(claim).value);
    run.note(fmt::format("{} pending: push {} ns, claim {} ns", count_words(double(count)),
                         count_words(median_of(push).value), count_words(median_of(claim).value)));
  }
  write(directory, "cost-by-pending", app::svg_of(chart));
}

void draw_lateness(const Run& run, const std::string& directory) {
  const Scratch scratch(run.directory());
  Store store = must(open("file:" + scratch.path() + "?sync=always"), "open");
  app::LoadGenerator load(store.queue("bench"), {}, [](std::uint64_t, std::uint64_t) {});
  std::vector<app::LatenessAtLoad> runs;
  for (const double rate : {100.0, 1'000.0, 5'000.0, 20'000.0, 50'000.0}) {
    const auto length = std::chrono::milliseconds(run.scaled(2'000) * std::uint64_t(run.rounds()));
    runs.push_back(must(load.lateness(rate, length), "load"));
    run.note(fmt::format("{}/s: p99 {}", count_words(rate),
                         app::lateness_words(double(runs.back().lateness.percentile(99)))));
  }
  write(directory, "lateness-by-load",
        app::lateness_svg(runs, "lateness against load, sync=always, embedded"));
}

}  // namespace

void draw_plots(const Run& run, const std::string& directory) {
  run.begin("plots");
  draw_lifecycles(run, directory);
  draw_costs(run, directory);
  draw_lateness(run, directory);
}

}  // namespace tarry::bench
