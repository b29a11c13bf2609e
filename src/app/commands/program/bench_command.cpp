// tarry bench: measures a store's performance on this machine.
#include <cmath>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/program/bench_plan.h"
#include "app/commands/program/load_generator.h"
#include "app/output/progress.h"
#include "app/pictures/lateness_plot.h"
#include "app/system/signals.h"
#include "base/text/text.h"
#include "core/limits.h"

namespace tarry::app {
namespace {

struct BenchOptions {
  std::optional<std::string> queue;
  std::optional<std::uint64_t> messages;
  std::optional<std::uint64_t> clients;
  std::optional<std::uint64_t> batch;
  std::optional<std::uint64_t> payload;
  std::optional<Millis> each;
  std::optional<std::string> plot;
  PlanFlags plan;

  /// Whether a flag is set that says how to measure.
  [[nodiscard]] bool measures() const { return queue || messages || clients || each || plot; }
};

constexpr std::uint64_t kMessages = 100'000;
constexpr std::uint64_t kMostMessages = 10'000'000;
constexpr Millis kEach = std::chrono::seconds(2);
constexpr Millis kMostEach = std::chrono::hours(1);
// Loads as shares of the measured rate of whole lives (push, claim, settle): from hardly any load
// to more than a user should plan for.
constexpr double kLoads[] = {0.01, 0.03, 0.1, 0.2, 0.4, 0.6};

struct Results {
  LoadRates rates;
  std::vector<LatenessAtLoad> lateness;
};

// Rounds to two digits, which are enough and easier to read.
double rounded(double rate) {
  const double unit = std::pow(10, std::floor(std::log10(std::max(rate, 10.0))) - 1);
  return std::max(1.0, std::round(rate / unit) * unit);
}

void print_json(Output& output, const Results& results) {
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object();
    json.name("push_per_second").number(results.rates.push);
    json.name("claim_per_second").number(results.rates.claim);
    json.name("settle_per_second").number(results.rates.settle);
    json.name("lifecycles_per_second").number(results.rates.lifecycle());
    json.name("lateness").begin_array();
    for (const LatenessAtLoad& run : results.lateness) {
      const auto milliseconds = [&](std::string_view name, double p) {
        json.name(name).number(static_cast<double>(run.lateness.percentile(p)) / 1e3);
      };
      json.begin_object();
      json.name("per_second").number(run.asked);
      json.name("reached_per_second").number(run.reached);
      json.field("messages", run.claimed);
      milliseconds("p50_ms", 50);
      milliseconds("p99_ms", 99);
      milliseconds("p99_9_ms", 99.9);
      milliseconds("max_ms", 100);
      json.end_object();
    }
    json.end_array().end_object();
  });
}

std::string rate_text(double rate) {
  return grouped(static_cast<std::uint64_t>(std::llround(rate))) + "/s";
}

void print_tables(Output& output, const Results& results, std::size_t width) {
  Table rates({{"VERB"}, {"MESSAGES", true}});
  rates.add({"push", rate_text(results.rates.push)});
  rates.add({"claim", rate_text(results.rates.claim)});
  rates.add({"settle", rate_text(results.rates.settle)});
  rates.add({"one after the other", rate_text(results.rates.lifecycle())});
  output.print(rates);
  output.print_line("");
  Table table({{"LOAD", true},
               {"REACHED", true},
               {"P50", true},
               {"P99", true},
               {"P99.9", true},
               {"LATEST", true}});
  for (const LatenessAtLoad& run : results.lateness) {
    const auto words = [&](double p) {
      return lateness_words(static_cast<double>(run.lateness.percentile(p)));
    };
    table.add({rate_text(run.asked), rate_text(run.reached), words(50), words(99), words(99.9),
               words(100)});
  }
  output.print(table);
  output.print_line("");
  output.print_line("lateness: | p50, - to p99, . to p99.9");
  std::string plot = lateness_text(results.lateness, width);
  plot.pop_back();
  output.print_line(plot);
}

// Requires an empty queue, because the benchmark would claim and ack other messages in it.
Result<Queue> empty_queue(Store& store, const std::string& name) {
  Queue queue = store.queue(name);
  const auto stats = queue.stats();
  if (!stats && stats.error().code != ErrorCode::not_found) return stats.error();
  if (stats) {
    const std::uint64_t there = stats->scheduled + stats->ready + stats->leased + stats->dead;
    if (there != 0) {
      return Error{ErrorCode::conflict,
                   fmt::format("queue {} holds {} messages, which would be lost: name an empty "
                               "one with --queue",
                               base::quoted(name), grouped(there))};
    }
  }
  return queue;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Error{ErrorCode::io_error, "cannot write " + path};
  return {};
}

Result<Results> measure(Invocation& invocation, const Queue& queue, const BenchOptions& options) {
  LoadShape shape;
  if (options.clients) shape.clients = static_cast<std::uint32_t>(*options.clients);
  if (options.batch) shape.batch = static_cast<std::uint32_t>(*options.batch);
  if (options.payload) shape.payload = static_cast<std::uint32_t>(*options.payload);
  const Millis each = options.each.value_or(kEach);
  const std::uint64_t runs = std::size(kLoads);
  const std::string loads = fmt::format("of {} loads", runs);
  std::FILE* const out = invocation.output.json() ? nullptr : stderr;
  Progress progress("measuring", out, invocation.output.err());
  // In the progress bar, measuring the rates counts as much as measuring one load.
  std::uint64_t part = 0;
  LoadGenerator load(queue, shape, [&](std::uint64_t done, std::uint64_t total) {
    const std::uint64_t here = total == 0 ? 0 : done * 1000 / total;
    progress.show(part * 1000 + here, (runs + 1) * 1000, part, loads);
  });
  const SignalWatch watch([&load](int) { load.stop(); });

  Results results;
  auto rates = load.rates(options.messages.value_or(kMessages));
  if (!rates) return std::move(rates).error();
  results.rates = *rates;
  for (const double share : kLoads) {
    ++part;
    auto run = load.lateness(rounded(share * results.rates.lifecycle()), each);
    if (!run) return std::move(run).error();
    results.lateness.push_back(std::move(*run));
  }
  return results;
}

ExitCode run_bench(Invocation& invocation, const BenchOptions& options) {
  if (options.plan.plan) {
    if (options.measures()) {
      return invocation.output.usage(
          "--plan measures nothing: leave out --queue, --messages, --clients, --each and --plot");
    }
    return print_plan(invocation, options.plan, options.payload, options.batch);
  }
  if (options.plan.any_given()) {
    return invocation.output.usage("--rate, --pending, --engine and --memory need --plan");
  }
  if (options.each && (*options.each < Millis(100) || *options.each > kMostEach)) {
    return invocation.output.usage("--each " + base::format_duration_ms(options.each->count()) +
                                   ": must be 100ms to 1h");
  }
  ExitCode code{};
  auto store = invocation.open(code, {.create = true});
  if (!store) return code;
  auto queue = empty_queue(*store, options.queue.value_or("tarry-bench"));
  if (!queue) return invocation.output.fail(queue.error());
  auto results = measure(invocation, *queue, options);
  const auto purged = queue->purge();
  if (!results) return invocation.output.fail(results.error());
  if (invocation.output.json()) {
    print_json(invocation.output, *results);
  } else {
    print_tables(invocation.output, *results, invocation.output.out().width());
  }
  if (options.plot) {
    const std::string title = "tarry: lateness against load, " + invocation.url();
    auto written = write_file(*options.plot, lateness_svg(results->lateness, title));
    if (!written) return invocation.output.fail(written.error());
  }
  if (!purged) return invocation.output.fail(purged.error());
  return ExitCode::done;
}

}  // namespace

void add_bench_command(CLI::App& root, Invocation& invocation) {
  const auto [bench, options] = add_command(root, invocation, "bench", run_bench, R"(
Measure a store: rates of push, claim and settle, lateness under load

Uses a queue of its own, with batches and several clients. It first measures each verb
alone. Then messages fall due at 1 to 60 % of the rate of all three verbs, one after the
other. Lateness is the time until a client has claimed them, by this machine's clock.
--plan measures nothing. It multiplies what a message was measured to cost by the load.

  tarry bench --store file:/tmp/bench
  tarry bench --store memory: --batch 1 --clients 1
  tarry bench --each 10s --plot lateness.svg
  tarry bench --plan --rate 50000 --pending 200M --payload 300)");
  add_word(bench, "--queue", options.queue, "An empty queue (default: tarry-bench)")
      ->type_name("QUEUE");
  add_number(bench, "--messages", options.messages, 1'000, kMostMessages,
             "Messages to measure the rates with (default: 100000)");
  add_number(bench, "--clients", options.clients, 1, 256, "Number of threads (default: 4)");
  add_number(bench, "--batch", options.batch, 1, core::kMaxBatch,
             "Messages in one batch (default: 256)");
  add_number(bench, "--payload", options.payload, 0, 1 << 20,
             "Size of each payload in bytes (default: 100)");
  add_duration(bench, "--each", options.each, "How long each load lasts (default: 2s)");
  add_word(bench, "--plot", options.plot, "Draw lateness against load into FILE, as SVG")
      ->type_name("FILE");
  add_plan_flags(bench, options.plan);
}

}  // namespace tarry::app
