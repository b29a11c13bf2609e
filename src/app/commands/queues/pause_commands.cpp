// tarry queue pause, resume: for one queue, or for all that a pattern matches.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "base/text/text.h"
#include "core/engine.h"
#include "core/rules/queue_pattern.h"
#include "wire/parts/batch.h"

namespace tarry::app {
namespace {

/// The queues that the user named: one, or all that match a pattern.
struct Meant {
  std::optional<std::string> queue;  // a name, or a pattern: 'orders.*'
  bool all = false;

  [[nodiscard]] bool several() const { return all || core::is_beginning(*queue); }
};

void add_meant(CLI::App& command, Meant& into) {
  add_word(command, "QUEUE", into.queue, "The queue, or a pattern for several: 'orders.*'");
  command.add_flag("--all", into.all, "All queues");
}

std::optional<std::string> bad_meant(const Meant& meant, std::string_view verb) {
  if (meant.all == meant.queue.has_value()) {
    return fmt::format("queue {} needs {}", verb,
                       meant.all ? "either QUEUE or --all, not both" : "QUEUE, or --all");
  }
  if (!meant.several() || meant.all) return std::nullopt;
  const auto bad = core::check_queue_pattern(*meant.queue);
  return bad ? std::optional(bad->message) : std::nullopt;
}

/// The store's queues with that name or pattern, sorted by name. Error: `not_found` if none
/// matches.
Result<std::vector<QueueStats>> queues_of(const Store& store, const Meant& meant) {
  auto stats = store.stats();
  if (!stats) return stats.error();
  std::vector<QueueStats> queues = std::move(stats->queues);
  if (!meant.all) {
    std::erase_if(queues,
                  [&](const QueueStats& one) { return !core::matches(*meant.queue, one.queue); });
    if (queues.empty()) {
      return Error{ErrorCode::not_found,
                   fmt::format("no queue matches {}", base::quoted(*meant.queue))};
    }
  }
  std::ranges::sort(queues, {}, &QueueStats::queue);
  return queues;
}

/// The result for one of several queues.
struct Paused {
  std::string queue;
  bool paused = false;
  bool was_paused = false;
  std::optional<Error> error;
};

ExitCode print_several(Output& output, const std::vector<Paused>& all,
                       const std::optional<Time>& until) {
  ExitCode code = ExitCode::done;
  Table table({{"QUEUE", false, true}, {"STATE"}});
  for (const Paused& one : all) {
    if (one.error) {
      output.error({one.error->code,
                    fmt::format("queue {}: {}", base::quoted(one.queue), one.error->message)});
      code = worst(code, exit_code(one.error->code));
    }
    table.add({one.queue, one.error        ? "failed"
                          : one.paused     ? "paused"
                          : one.was_paused ? "resumed"
                                           : "not paused"});
  }
  if (!output.json()) {
    output.print(table);
    return code;
  }
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object().name("queues").begin_array();
    for (const Paused& one : all) {
      json.begin_object().text_field("queue", one.queue);
      if (one.error) {
        wire::write_error(json, *one.error);
      } else {
        json.field_bool("paused", one.paused);
        if (until && one.paused) json.time_field("paused_until", *until);
      }
      json.end_object();
    }
    json.end_array().end_object();
  });
  return code;
}

struct PauseOptions {
  Meant meant;
  std::optional<Millis> during;
  std::optional<Time> until;
};

ExitCode pause_several(Invocation& invocation, const Store& store, const Meant& meant,
                       const std::optional<Time>& until) {
  const auto queues = queues_of(store, meant);
  if (!queues) return invocation.output.fail(queues.error());
  std::vector<Paused> all;
  for (const QueueStats& queue : *queues) {
    const auto paused = store.queue(queue.queue).pause(until);
    all.push_back({queue.queue, paused && *paused == PauseOutcome::paused, queue.paused,
                   paused ? std::nullopt : std::optional(paused.error())});
  }
  return print_several(invocation.output, all, until);
}

ExitCode pause_one(Invocation& invocation, const Store& store, const std::string& name,
                   const std::optional<Time>& until) {
  const auto paused = store.queue(name).pause(until);
  if (!paused) return invocation.output.fail(paused.error());
  const bool is_paused = *paused == PauseOutcome::paused;
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("queue", name).field_bool("paused", is_paused);
      if (until && is_paused) json.time_field("paused_until", *until);
      json.end_object();
    });
  } else if (is_paused) {
    invocation.output.print_line(fmt::format("queue {} is paused until {}", name,
                                             until ? time_text(*until) : "it is resumed"));
  }
  if (is_paused) return ExitCode::done;
  invocation.output.tell(fmt::format("queue {} is not paused: {} has passed", name,
                                     time_text(until.value_or(Time()))));
  return ExitCode::failed;
}

ExitCode pause(Invocation& invocation, const PauseOptions& options) {
  if (const auto bad = bad_meant(options.meant, "pause")) return invocation.output.usage(*bad);
  std::optional<Time> until = options.until;
  const Time now = std::chrono::ceil<Millis>(std::chrono::system_clock::now());
  if (options.during == Millis(0)) {
    return invocation.output.usage("--for 0s is no pause; give at least 1ms");
  }
  if (options.during) until = now + *options.during;
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  // A pause until a time in the past would end the present pause. With a manual clock only the
  // store knows whether the time has passed.
  if (until && *until <= now && !store->engine().capabilities().manual_clock) {
    return invocation.output.usage(
        fmt::format("--until {} has passed; nothing was done (tarry queue resume ends a pause)",
                    time_text(*until)));
  }
  if (options.meant.several()) return pause_several(invocation, *store, options.meant, until);
  return pause_one(invocation, *store, *options.meant.queue, until);
}

ExitCode resume_several(Invocation& invocation, const Store& store, const Meant& meant) {
  const auto queues = queues_of(store, meant);
  if (!queues) return invocation.output.fail(queues.error());
  std::vector<Paused> all;
  for (const QueueStats& queue : *queues) {
    const auto resumed = store.queue(queue.queue).resume();
    all.push_back({queue.queue, false, queue.paused,
                   resumed ? std::nullopt : std::optional(resumed.error())});
  }
  return print_several(invocation.output, all, std::nullopt);
}

ExitCode resume(Invocation& invocation, const Meant& meant) {
  if (const auto bad = bad_meant(meant, "resume")) return invocation.output.usage(*bad);
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  if (meant.several()) return resume_several(invocation, *store, meant);
  const std::string& name = *meant.queue;
  const Queue queue = store->queue(name);
  // The queue must exist: a mistyped name must not be answered as if something had been resumed.
  const auto stats = queue.stats();
  if (!stats) return invocation.output.fail(stats.error());
  const auto resumed = queue.resume();
  if (!resumed) return invocation.output.fail(resumed.error());
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("queue", name).field_bool("paused", false).end_object();
    });
  } else {
    invocation.output.print_line(
        fmt::format("queue {} {}", name, stats->paused ? "is resumed" : "was not paused"));
  }
  return ExitCode::done;
}

}  // namespace

void add_pause_commands(CLI::App& queue, Invocation& invocation) {
  {
    const auto [command, options] = add_command(queue, invocation, "pause", pause, R"(
Stop all claims of a queue, waiting ones too

Pushes and cancels go on, and messages that are claimed already can be settled. A queue
that does not exist is created, paused. A pattern and --all pause the queues that exist
now.

  tarry queue pause orders
  tarry queue pause orders --for 15m
  tarry queue pause orders --until 2030-01-31T09:00:00Z
  tarry queue pause 'orders.*'
  tarry queue pause --all --for 15m)");
    add_meant(command, options.meant);
    auto* during = add_duration(command, "--for", options.during,
                                "For this long from now, by this machine's clock");
    auto* until =
        add_time(command, "--until", options.until, "Until this time (default: until resumed)");
    during->excludes(until);
  }
  const auto [command, meant] = add_command(queue, invocation, "resume", resume, R"(
Allow claims of a paused queue again

  tarry queue resume orders
  tarry queue resume 'orders.*'
  tarry queue resume --all)");
  add_meant(command, meant);
}

}  // namespace tarry::app
