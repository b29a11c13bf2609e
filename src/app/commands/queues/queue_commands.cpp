// tarry queue ls, queue info, stats: queues and their figures.
#include <initializer_list>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/queues/settings_sheet.h"
#include "app/output/answers.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "core/engine.h"
#include "core/settings/queue_limits.h"
#include "open/server_call.h"
#include "wire/stats.h"

namespace tarry::app {
namespace {

std::string optional_time(const std::optional<Time>& time) { return time ? time_text(*time) : ""; }

std::string paused_text(const QueueStats& stats) {
  if (!stats.paused) return "no";
  return stats.paused_until ? "until " + time_text(*stats.paused_until) : "yes";
}

void print_table(Output& output, const core::Capabilities& can,
                 const std::vector<QueueStats>& queues) {
  Table table({{"QUEUE", false, true},
               {"SCHEDULED", true},
               {"READY", true},
               {"LEASED", true},
               {"DEAD", true},
               {"OLDEST READY"},
               {"PAUSED"}});
  for (const QueueStats& stats : queues) {
    const std::string scheduled = can.counts_scheduled ? grouped(stats.scheduled) : "?";
    const std::string ready = grouped(stats.ready);
    const std::string leased = grouped(stats.leased);
    const std::string dead = grouped(stats.dead);
    const std::string oldest = optional_time(stats.oldest_ready);
    const std::string paused = paused_text(stats);
    table.add({stats.queue, scheduled, ready, leased, dead, oldest, paused});
  }
  output.print(table);
}

void tell_of_none(Invocation& invocation, const Store& store,
                  const std::vector<QueueStats>& queues) {
  if (!queues.empty()) return;
  const core::Capabilities can = store.engine().capabilities();
  invocation.output.note(
      !can.counts_scheduled ? "RabbitMQ lists no queues: name one, as in tarry queue info QUEUE."
      : can.counts          ? "There are no queues."
                            : "A layout lists only queues that its URL names: zset=NAME.");
}

ExitCode list_queues(Invocation& invocation) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const auto stats = store->stats();
  if (!stats) return invocation.output.fail(stats.error());
  if (invocation.output.json()) {
    invocation.output.print_line(wire::encode_queues(*stats));
  } else {
    print_table(invocation.output, store->engine().capabilities(), stats->queues);
    tell_of_none(invocation, *store, stats->queues);
  }
  return tell_unreadable(invocation.output, *stats);
}

std::string kept_text(const ObjectiveStats& kept) {
  std::string text =
      fmt::format("{}: {} of {} late in the last hour", kept.burning ? "burning" : "kept",
                  grouped(kept.late), counted(kept.claims, "claim"));
  if (kept.late > 0) {
    text += fmt::format(" ({} unclaimed, {} paused, {} held by a limit, {} by the engine)",
                        grouped(kept.late_unclaimed), grouped(kept.late_paused),
                        grouped(kept.late_limited), grouped(kept.late_engine));
  }
  return kept.overdue ? text + "; a message is overdue now" : text;
}

void print_sheet(Output& output, const core::Capabilities& can, const QueueStats& stats) {
  const QueueSettings& settings = stats.settings;
  const QueueCounters& counters = stats.counters;
  Sheet sheet;
  sheet.add("queue", stats.queue);
  const auto parts = [](std::initializer_list<std::pair<std::uint64_t, const char*>> figures) {
    std::vector<std::string> texts;
    for (const auto& [count, what] : figures) {
      texts.push_back(fmt::format("{} {}", grouped(count), what));
    }
    return texts;
  };
  std::vector<std::string> messages = parts({{stats.scheduled, "scheduled"},
                                             {stats.ready, "ready"},
                                             {stats.leased, "leased"},
                                             {stats.dead, "dead"},
                                             {stats.remembered, "remembered"}});
  if (!can.counts_scheduled) messages.front() = "? scheduled";
  sheet.add_parts("messages", messages);
  sheet.add("oldest ready", optional_time(stats.oldest_ready));
  sheet.add("paused", paused_text(stats));
  if (core::is_limited(stats)) sheet.add("limits", core::limit_held(stats));
  sheet.add("waiting claims", grouped(stats.waiting_claims));
  add_settings(sheet, settings);
  if (stats.objective) sheet.add("objective is", kept_text(*stats.objective));
  if (!can.counts) return output.print(sheet);
  sheet.add("accepted", grouped(counters.accepted));
  sheet.add_parts("ended", parts({{counters.acked, "acked"},
                                  {counters.cancelled, "cancelled"},
                                  {counters.replaced, "replaced"},
                                  {counters.expired, "expired"},
                                  {counters.purged, "purged"},
                                  {counters.moved_away, "moved away"}}));
  sheet.add_parts("deliveries", parts({{counters.claims, "claims"},
                                       {counters.retries, "retries"},
                                       {counters.releases, "releases"},
                                       {counters.run_outs, "run-outs"},
                                       {counters.buries, "buries"}}));
  sheet.add_parts("changes", parts({{counters.reschedules, "reschedules"},
                                    {counters.revives, "revives"},
                                    {counters.damaged, "damaged"}}));
  output.print(sheet);
}

ExitCode queue_info(Invocation& invocation, const std::string& name) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const auto stats = store->queue(name).stats();
  if (!stats) return invocation.output.fail(stats.error());
  if (invocation.output.json()) {
    invocation.output.print_line(wire::encode_queue_stats(*stats));
  } else {
    print_sheet(invocation.output, store->engine().capabilities(), *stats);
  }
  return ExitCode::done;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKiB = 1024;
  if (bytes < 10 * kKiB) return fmt::format("{} bytes", bytes);
  if (bytes < 10 * kKiB * kKiB) return fmt::format("{} KiB", grouped(bytes / kKiB));
  return fmt::format("{} MiB", grouped(bytes / kKiB / kKiB));
}

std::string engine_text(const StoreStats& stats) {
  std::string text = stats.engine;
  if (!stats.served.empty()) text += ", a server's " + stats.served;
  return stats.durable ? text : text + ", in memory alone";
}

ExitCode figures(Invocation& invocation, const std::optional<std::string>& name) {
  if (name) return queue_info(invocation, *name);
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const auto stats = store->stats();
  if (!stats) return invocation.output.fail(stats.error());
  if (invocation.output.json()) {
    invocation.output.print_line(wire::encode_store_stats(*stats));
    return tell_unreadable(invocation.output, *stats);
  }
  Sheet sheet;
  const LatenessStats& late = stats->lateness;
  sheet.add("engine", engine_text(*stats));
  if (stats->disk_bytes > 0) {
    sheet.add("disk", fmt::format("{}, of which {} live", bytes_text(stats->disk_bytes),
                                  bytes_text(stats->live_bytes)));
  }
  sheet.add("lateness", late.count == 0
                            ? (tools::is_server_url(invocation.url())
                                   ? "nothing was claimed since the server started"
                                   : "only a server counts it (tarry serve)")
                            : fmt::format("p50 {:g} ms, p99 {:g} ms, max {:g} ms of {}", late.p50,
                                          late.p99, late.max, counted(late.count, "claim")));
  invocation.output.print(sheet);
  if (!stats->queues.empty()) {
    invocation.output.print_line("");
    print_table(invocation.output, store->engine().capabilities(), stats->queues);
  }
  tell_of_none(invocation, *store, stats->queues);
  return tell_unreadable(invocation.output, *stats);
}

}  // namespace

void add_queue_commands(CLI::App& root, Invocation& invocation) {
  CLI::App& queue = add_group(root, "queue", R"(
Queues: ls, info, set, pause, resume, purge, rm, reshard

  tarry queue ls
  tarry queue info orders)");
  add_command(queue, invocation, "ls", list_queues, R"(
List all queues with their counts

  tarry queue ls
  tarry queue ls -o json)");
  {
    const auto [command, name] = add_command(queue, invocation, "info", queue_info, R"(
Show the settings, state and counters of one queue

  tarry queue info orders)");
    add_word(command, "QUEUE", name, "The queue")->required();
  }
  add_queue_verbs(queue, invocation);
  add_reshard_command(queue, invocation);
  {
    const auto [command, name] = add_command(root, invocation, "stats", figures, R"(
Show the figures of the store, or of one queue

  tarry stats
  tarry stats orders
  tarry stats -o json)");
    add_word(command, "QUEUE", name, "The queue (default: all of them)");
  }
}

}  // namespace tarry::app
