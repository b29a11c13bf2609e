#include "app/commands/program/bench_plan.h"

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "app/output/table.h"
#include "app/sizing/sizing.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

constexpr double kMostRate = 1e9;
constexpr double kMostPending = 1e12;
// Batches (in messages) and RAM (in bytes) outside these limits were not measured.
constexpr std::uint64_t kLeastBatch = 10;
constexpr std::uint64_t kMostBatch = 1'000;
constexpr std::uint64_t kLeastMemory = 1ull << 30;
constexpr std::uint64_t kMostMemory = 4ull << 40;

/// "50000", "200M", "1.5k", "10G": k, M and G are thousands, millions and thousands of millions.
Result<double> parse_count(std::string_view flag, std::string_view text, double most) {
  double unit = 1;
  std::string_view digits = text;
  if (!digits.empty()) {
    switch (digits.back()) {
      case 'k': unit = 1e3; break;
      case 'M': unit = 1e6; break;
      case 'G': unit = 1e9; break;
      default: break;
    }
    if (unit > 1) digits.remove_suffix(1);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number,
                                            std::chars_format::fixed);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number) ||
      number < 0) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} {}: takes a number such as 50000, 1.5k, 200M or 10G", flag,
                             base::quoted(text))};
  }
  number *= unit;
  if (number < 1 || number > most) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} {}: is not from 1 to {}", flag, base::quoted(text),
                             grouped(static_cast<std::uint64_t>(most)))};
  }
  return number;
}

Result<sizing::Load> load_of(const PlanFlags& flags, std::optional<std::uint64_t> payload,
                             std::optional<std::uint64_t> batch) {
  const auto refused = [](std::string why) {
    return Error{ErrorCode::invalid_argument, std::move(why)};
  };
  if (!flags.rate) return refused("--plan needs --rate: messages a second");
  if (!flags.pending) return refused("--plan needs --pending: messages that wait at a time");
  sizing::Load load;
  auto rate = parse_count("--rate", *flags.rate, kMostRate);
  if (!rate) return std::move(rate).error();
  auto pending = parse_count("--pending", *flags.pending, kMostPending);
  if (!pending) return std::move(pending).error();
  load.rate = *rate;
  load.pending = *pending;
  if (flags.engine) {
    const auto engine = sizing::engine_named(*flags.engine);
    if (!engine) {
      return refused(fmt::format("--engine {}: must be file, redis or redis-cluster",
                                 base::quoted(*flags.engine)));
    }
    load.engine = *engine;
  }
  if (payload) load.payload = static_cast<double>(*payload);
  if (batch) {
    if (*batch < kLeastBatch || *batch > kMostBatch) {
      return refused(fmt::format(
          "--batch {}: with --plan it is from {} to {}, for which the costs were measured", *batch,
          kLeastBatch, kMostBatch));
    }
    load.batch = static_cast<double>(*batch);
  }
  if (flags.memory) {
    auto memory = base::parse_size(*flags.memory);
    if (!memory) return refused("--memory: " + memory.error().message);
    if (*memory < kLeastMemory || *memory > kMostMemory) {
      return refused(
          fmt::format("--memory {}: is not from 1GiB to 4TiB", base::quoted(*flags.memory)));
    }
    load.memory = static_cast<double>(*memory);
  }
  return load;
}

std::string bytes_text(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return bytes < 10 && unit > 0 ? fmt::format("{:.1f} {}", bytes, kUnits[unit])
                                : fmt::format("{:.0f} {}", bytes, kUnits[unit]);
}

std::string span_text(double seconds) {
  return base::format_duration_ms(static_cast<std::int64_t>(std::ceil(seconds)) * 1000);
}

void print_json(Output& output, const sizing::Load& load, const sizing::Plan& plan) {
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object();
    json.text_field("engine", sizing::name_of(load.engine));
    json.field("masters", std::uint64_t{plan.masters}).text_field("limit", plan.because);
    json.field("partitions", std::uint64_t{plan.partitions});
    json.field("shards", std::uint64_t{plan.shards}).field("queues", std::uint64_t{plan.queues});
    json.name("skew").number(plan.skew).name("busy_cores").number(plan.busy);
    json.name("client_cores").number(plan.client_cores);
    json.name("memory_bytes").number(plan.memory);
    json.name("memory_busiest_bytes").number(plan.memory_busiest);
    json.name("in_bytes_per_second").number(plan.in).name("out_bytes_per_second").number(plan.out);
    json.name("disk_bytes").number(plan.disk);
    json.name("written_bytes_per_second").number(plan.written);
    json.name("restart_seconds").number(plan.restart_s);
    json.name("lateness_p99_ms").number(plan.lateness_p99_ms);
    json.text_field("source", sizing::costs_of(load.engine).source);
    json.end_object();
  });
}

std::string store_text(const sizing::Load& load, const sizing::Plan& plan) {
  switch (load.engine) {
    case sizing::Engine::file: return "file:DIRECTORY";
    case sizing::Engine::redis: return fmt::format("redis://HOST?shards={}", plan.shards);
    case sizing::Engine::redis_cluster: break;
  }
  return fmt::format("redis+cluster://HOST?shards={}&partitions={}", plan.shards, plan.partitions);
}

void print_sheet(Output& output, const sizing::Load& load, const sizing::Plan& plan) {
  const bool is_file = load.engine == sizing::Engine::file;
  const bool is_cluster = load.engine == sizing::Engine::redis_cluster;
  Sheet sheet;
  sheet.add(
      is_cluster ? "masters" : "servers",
      plan.masters == 1 ? "1" : fmt::format("{}: their {} decides", plan.masters, plan.because));
  sheet.add("store", store_text(load, plan));
  if (is_cluster && plan.queues > 1) {
    sheet.add("queues", fmt::format("{} or more, to spread the work like this", plan.queues));
  }
  if (plan.masters > 1) {
    sheet.add("busiest master", fmt::format("{:.2f} times the mean", plan.skew));
  }
  sheet.add("processor", is_file
                             ? fmt::format("{:.2f} cores, the program's own included", plan.busy)
                             : fmt::format("{:.2f} of a core at the busiest; programs that push, "
                                           "claim and settle: {:.1f} cores",
                                           plan.busy, plan.client_cores));
  sheet.add("memory", is_file ? bytes_text(plan.memory)
                              : fmt::format("{}; {} at the busiest", bytes_text(plan.memory),
                                            bytes_text(plan.memory_busiest)));
  if (!is_file) {
    sheet.add("network",
              fmt::format("{}/s in, {}/s out", bytes_text(plan.in), bytes_text(plan.out)));
  }
  sheet.add("disk",
            fmt::format("{}; {}/s written", bytes_text(plan.disk), bytes_text(plan.written)));
  sheet.add("restart", span_text(plan.restart_s));
  sheet.add("lateness", fmt::format("{:.1f} ms at p99", plan.lateness_p99_ms));
  sheet.add("costs from", sizing::costs_of(load.engine).source);
  output.print(sheet);
}

}  // namespace

void add_plan_flags(CLI::App& bench, PlanFlags& into) {
  bench.add_flag("--plan", into.plan,
                 "Measure nothing: say how many servers a load needs, from measured costs");
  add_word(bench, "--rate", into.rate,
           "With --plan: messages a second, pushed, claimed and settled (k, M, G)")
      ->type_name("N");
  add_word(bench, "--pending", into.pending, "With --plan: messages that wait at a time (k, M, G)")
      ->type_name("N");
  add_word(bench, "--engine", into.engine,
           "With --plan: file, redis or redis-cluster (default: redis-cluster)")
      ->type_name("ENGINE");
  add_word(bench, "--memory", into.memory, "With --plan: RAM of one server (default: 32GiB)")
      ->type_name("SIZE");
}

ExitCode print_plan(Invocation& invocation, const PlanFlags& flags,
                    std::optional<std::uint64_t> payload, std::optional<std::uint64_t> batch) {
  const auto load = load_of(flags, payload, batch);
  if (!load) return invocation.output.usage(load.error().message);
  const auto plan = sizing::plan_of(*load);
  if (!plan) return invocation.output.fail(plan.error());
  if (invocation.output.json()) {
    print_json(invocation.output, *load, *plan);
  } else {
    print_sheet(invocation.output, *load, *plan);
  }
  return ExitCode::done;
}

}  // namespace tarry::app
