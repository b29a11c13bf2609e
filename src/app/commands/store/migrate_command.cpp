// tarry store migrate: moves the contents of one store into another.
#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <system_error>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "app/system/signals.h"
#include "app/transfer/migration.h"
#include "base/text/text.h"
#include "open/store_tools.h"
#include "open/urls/store_url.h"

namespace tarry::app {
namespace {

struct MigrateWords {
  std::string from;
  std::string to;
  std::vector<std::string> queues;
  std::optional<Millis> wait;
  bool keep_settings = false;
  bool dry_run = false;
};

void print_json(Output& output, const MigrationReport& report, bool dry_run) {
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object().field_bool("complete", !dry_run && report.is_complete());
    json.field_bool("stopped", report.stopped).field_bool("dry_run", dry_run);
    json.name("queues").begin_array();
    for (const MigratedQueue& queue : report.queues) {
      json.begin_object().text_field("queue", queue.queue).field("moved", queue.moved);
      json.field("dead", queue.dead).field("found", queue.found).field("leased", queue.leased);
      json.field("left", queue.left).field("conflicts", queue.conflicts);
      json.field("remembered", queue.remembered).field_bool("held", queue.held);
      json.name("problems").begin_array();
      for (const std::string& problem : queue.problems) json.string(problem);
      json.end_array().end_object();
    }
    json.end_array().end_object();
  });
}

void print_table(Output& output, const MigrationReport& report, bool dry_run) {
  Table table({{"QUEUE", false, true},
               {dry_run ? "TO MOVE" : "MOVED", true},
               {"OF THEM DEAD", true},
               {"LEASED", true},
               {"LEFT", true},
               {"REMEMBERED", true},
               {"PAUSED"}});
  for (const MigratedQueue& queue : report.queues) {
    table.add({queue.queue, grouped(queue.moved), grouped(queue.dead), grouped(queue.leased),
               grouped(queue.left), grouped(queue.remembered),
               !queue.held    ? "as it was"
               : queue.pauses ? "in both"
                              : "in TO"});
  }
  output.print(table);
}

// Reports the messages that were not moved, and how to move them.
ExitCode tell_rest(Output& output, const MigrationReport& report) {
  ExitCode code = ExitCode::done;
  bool held = false, both = false;
  for (const MigratedQueue& queue : report.queues) {
    const std::string name = "queue " + base::quoted(queue.queue);
    held = held || queue.held;
    both = both || (queue.held && queue.pauses);
    for (const std::string& problem : queue.problems) output.tell(name + ": " + problem);
    if (!queue.held && queue.leased > 0) {
      output.tell(fmt::format(
          "{}: claimed by consumers: {}; run the same command again when the claims have ended",
          name, counted(queue.leased, "message")));
    }
    if (!queue.held && queue.left > 0) {
      output.tell(fmt::format("{}: {} left{}", name, counted(queue.left, "message"),
                              queue.pauses ? ""
                                           : "; in a layout these include claimed messages, so run "
                                             "this again when the claims have ended"));
    }
    if (!queue.held && queue.leased + queue.left > 0) code = worst(code, ExitCode::conflict);
    if (queue.held && queue.conflicts > 0) code = worst(code, ExitCode::conflict);
    if (queue.remembered > 0) {
      output.note(
          fmt::format("{}: {} of settled messages left behind: the other store does "
                      "not know that they were settled.",
                      name, counted(queue.remembered, "key")));
    }
  }
  if (report.stopped) {
    output.tell("stopped; run the same command again to continue");
    code = worst(code, ExitCode::failed);
  }
  if (held) {
    output.tell(fmt::format(
        "until the move is complete, its queue is paused in {}: run the same command again",
        both ? "both stores" : "TO"));
  }
  return code;
}

ExitCode migrate_stores(Invocation& invocation, const MigrateWords& words) {
  Output& output = invocation.output;
  ExitCode code{};
  if (words.to.starts_with("memory:")) {
    return output.usage("store " + base::quoted(words.to) +
                        " ends with this command, and what was moved into it would be lost");
  }
  const auto there = tools::path_of_store(words.from), here = tools::path_of_store(words.to);
  std::error_code no_matter;
  if (there && here && std::filesystem::equivalent(*there, *here, no_matter)) {
    return output.usage(words.from + " and " + words.to + " are the same store");
  }
  auto from = invocation.open(words.from, {}, code);
  if (!from) return code;
  // FROM is checked before TO is opened, because opening may make the store.
  const MigrationEnd source{from->engine(), detail::masked_url(words.from)};
  if (const auto refused = refuse_from(source, words.queues)) return output.fail(*refused);
  std::optional<Store> to = from;
  if (!words.dry_run) {
    to = invocation.open(words.to, {.create = true}, code);
    if (!to) return code;
  }
  std::stop_source stop;
  Progress progress("moving", stderr, output.err());
  MigrationOptions options;
  options.queues = words.queues;
  options.wait = words.wait.value_or(Millis(0));
  options.keep_settings = words.keep_settings;
  options.dry_run = words.dry_run;
  options.stop = stop.get_token();
  options.progress = [&progress, start = std::chrono::steady_clock::now()](std::uint64_t done,
                                                                           std::uint64_t total) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const auto rate = static_cast<std::uint64_t>(static_cast<double>(done) / took.count());
    progress.show(done, total, done, fmt::format("messages, {}/s", grouped(rate)));
  };
  MigrationReport report;
  {
    const SignalWatch watch([&stop](int) { stop.request_stop(); });
    report = migrate(source, {to->engine(), detail::masked_url(words.to)}, options);
  }
  progress.clear();
  if (output.json()) {
    print_json(output, report, words.dry_run);
  } else if (!report.queues.empty()) {
    print_table(output, report, words.dry_run);
  }
  if (report.error) {
    code = worst(tell_rest(output, report), output.fail(*report.error));
    return code;
  }
  return words.dry_run ? ExitCode::done : tell_rest(output, report);
}

}  // namespace

void add_migrate_command(CLI::App& store, Invocation& invocation) {
  const auto [command, words] = add_command(store, invocation, "migrate", migrate_stores, R"(
Move everything from one store into another

Messages keep their keys, due times, attempts, headers and priorities, dead ones their
reasons, queues their settings and pauses. A queue is paused in both stores while it is
moved. You may stop the command at any time and run it again to continue: no message is
lost, and none is there twice. After a kill, change nothing in FROM until you have run
the command again: if a message of the last batch is cancelled in FROM before that, TO
delivers it all the same; if one is rescheduled or replaced there, the queue stays
paused until one of the two copies is cancelled. If a server on another machine
listens on loopback only, reach it through a tunnel, ssh -L 7734:127.0.0.1:7733 HOST.

  tarry store migrate file:/var/lib/tarry redis://127.0.0.1/0
  tarry store migrate redis://127.0.0.1/0 file:/var/lib/tarry --queue orders --wait 5m
  tarry store migrate http://127.0.0.1:7734 http://127.0.0.1:7733
  tarry store migrate 'redis://127.0.0.1/0?layout=plain&zset=tasks' redis://127.0.0.1/0
  tarry store migrate file:/var/lib/tarry redis://127.0.0.1/0 --dry-run)");
  add_word(command, "FROM", words.from, "URL of the store to empty: file:, redis: or http:")
      ->required();
  add_word(command, "TO", words.to, "URL of the store to fill; a file: store is created if needed")
      ->required();
  add_words(command, "--queue", words.queues, "Only this queue; may be repeated");
  add_duration(command, "--wait", words.wait,
               "How long to wait for claims to end (default: not at all)");
  command.add_flag("--keep-settings", words.keep_settings,
                   "Queues that TO has already keep their settings");
  command.add_flag("--dry-run", words.dry_run, "Only count what would be moved; change nothing");
}

}  // namespace tarry::app
