// tarry queue set, pause, resume, purge: verbs on a whole queue.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/queues/settings_sheet.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "base/text/text.h"
#include "core/engine.h"
#include "core/settings/settings_table.h"
#include "wire/queue.h"

namespace tarry::app {
namespace {

struct SetOptions {
  std::string queue;
  SettingsPatch patch;
};

// The flag of a setting: "--max-attempts".
std::string flag_of(std::string_view setting) {
  std::string flag = "--" + std::string(setting);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

void add_flag(CLI::App& command, const core::DurationSetting& row, SettingsPatch& patch) {
  add_duration(command, flag_of(row.name), patch.*row.change, std::string(row.help));
}
void add_flag(CLI::App& command, const core::CountSetting& row, SettingsPatch& patch) {
  add_number(command, flag_of(row.name), patch.*row.change, row.min, row.max,
             std::string(row.help));
}
void add_flag(CLI::App& command, const core::RuleSetting& row, SettingsPatch& patch) {
  add_rule(command, flag_of(row.name), patch.*row.change, std::string(row.help));
}
void add_flag(CLI::App& command, const core::OnExpirySetting& row, SettingsPatch& patch) {
  add_rule(command, flag_of(row.name), patch.*row.change, std::string(row.help));
}
void add_flag(CLI::App& command, const core::LimitSetting& row, SettingsPatch& patch) {
  add_limit(command, std::string(row.name), flag_of(row.name), patch.*row.change, row.max,
            std::string(row.help));
}
void add_flag(CLI::App& command, const core::RateSetting& row, SettingsPatch& patch) {
  add_delivery_rate(command, flag_of(row.name), patch.*row.change, std::string(row.help));
}
void add_flag(CLI::App& command, const core::GroupSetting& row, SettingsPatch& patch) {
  add_grouping(command, flag_of(row.name), patch.*row.change, std::string(row.help));
}
void add_flag(CLI::App& command, const core::GroupOrderSetting& row, SettingsPatch& patch) {
  add_rule(command, flag_of(row.name), patch.*row.change, std::string(row.help));
}
void add_flag(CLI::App& command, const core::ObjectiveSetting& row, SettingsPatch& patch) {
  add_objective(command, flag_of(row.name), patch.*row.change, std::string(row.help));
}

// "--lease, --remember or --if-exists"
std::string all_flags() {
  std::string text;
  std::size_t at = 0;
  core::each_setting([&](const auto& row) {
    if (++at > 1) text += at < core::kSettings ? ", " : " or ";
    text += flag_of(row.name);
  });
  return text;
}

void print_settings(Output& output, const std::string& queue, const QueueSettings& settings) {
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("queue", queue).name("settings").begin_object();
      wire::write_settings(json, settings);
      json.end_object().end_object();
    });
    return;
  }
  Sheet sheet;
  sheet.add("queue", queue);
  add_settings(sheet, settings);
  output.print(sheet);
}

ExitCode set_settings(Invocation& invocation, const SetOptions& options) {
  if (options.patch == SettingsPatch()) {
    return invocation.output.usage("queue set needs a setting: " + all_flags());
  }
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const auto settings = store->queue(options.queue).configure(options.patch);
  if (!settings) return invocation.output.fail(settings.error());
  print_settings(invocation.output, options.queue, *settings);
  return ExitCode::done;
}

/// The words of purge and rm. --force is of rm alone.
struct RemovalOptions {
  std::string queue;
  bool yes = false;
  bool dry_run = false;
  bool force = false;
};

/// Opens the store if the user has confirmed the verb, which cannot be undone. `what`: the
/// question; {} is the queue.
std::optional<Store> open_confirmed(Invocation& invocation, const RemovalOptions& options,
                                    fmt::format_string<std::string> what, ExitCode& code) {
  if (options.yes || options.dry_run) return invocation.open(code);
  code = invocation.output.usage(fmt::format(what, base::quoted(options.queue)) +
                                 "; confirm with --yes, or count with --dry-run");
  return std::nullopt;
}

void print_removal(Output& output, const RemovalOptions& options, const char* name,
                   std::uint64_t count, const std::string& line) {
  if (!output.json()) return output.print_line(fmt::format("queue {}{}", options.queue, line));
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object().text_field("queue", options.queue).field_bool("dry_run", options.dry_run);
    json.field(name, count).end_object();
  });
}

ExitCode purge(Invocation& invocation, const RemovalOptions& options) {
  Output& output = invocation.output;
  ExitCode code{};
  auto store = open_confirmed(invocation, options,
                              "purge removes every message of queue {} that is not leased", code);
  if (!store) return code;
  const Queue queue = store->queue(options.queue);
  const auto stats = queue.stats();
  if (!stats) return output.fail(stats.error());
  std::uint64_t count = stats->scheduled + stats->ready + stats->dead;
  if (!options.dry_run) {
    const auto purged = queue.purge();
    if (!purged) return output.fail(purged.error());
    count = *purged;
  }
  print_removal(output, options, "purged", count,
                fmt::format(": {}{}", counted(count, "message"),
                            options.dry_run ? " would be purged" : " purged"));
  if (!store->engine().capabilities().counts_scheduled) {
    output.note(
        "Purge removes what is due or dead. Scheduled messages still fall due later: "
        "RabbitMQ cannot tell which of them are this queue's.");
  }
  return ExitCode::done;
}

ExitCode remove_queue(Invocation& invocation, const RemovalOptions& options) {
  Output& output = invocation.output;
  ExitCode code{};
  auto store =
      open_confirmed(invocation, options,
                     "rm removes queue {} with all its messages, settings and counters", code);
  if (!store) return code;
  const Queue queue = store->queue(options.queue);
  std::uint64_t count = 0;
  if (options.dry_run) {
    const auto stats = queue.stats();
    if (!stats) return output.fail(stats.error());
    count = stats->scheduled + stats->ready + stats->leased + stats->dead;
  } else {
    const auto removed = queue.remove(options.force);
    if (!removed) return output.fail(removed.error());
    count = *removed;
  }
  print_removal(output, options, "removed", count,
                fmt::format(" {} with {}", options.dry_run ? "would be removed" : "is removed",
                            counted(count, "message")));
  return ExitCode::done;
}

void add_set_command(CLI::App& queue, Invocation& invocation) {
  const auto [command, options] = add_command(queue, invocation, "set", set_settings, R"(
Change settings of a queue

Settings that are not named stay as they are. A queue that does not exist is created. A
push or a claim may override the settings that concern it.

  tarry queue set orders --lease 2m --max-attempts 5
  tarry queue set orders --backoff-min 1s --backoff-max 10m --remember 1h)");
  add_word(command, "QUEUE", options.queue, "The queue")->required();
  core::each_setting([&](const auto& row) { add_flag(command, row, options.patch); });
}

}  // namespace

void add_queue_verbs(CLI::App& queue, Invocation& invocation) {
  add_set_command(queue, invocation);
  add_pause_commands(queue, invocation);
  {
    const auto [command, options] = add_command(queue, invocation, "purge", purge, R"(
Remove all messages of a queue that are not leased

Removes scheduled, ready and dead messages. Settings and remembered keys stay.

  tarry queue purge orders --dry-run
  tarry queue purge orders --yes)");
    add_word(command, "QUEUE", options.queue, "The queue")->required();
    command.add_flag("--yes", options.yes, "Confirm: purged messages cannot be brought back");
    command.add_flag("--dry-run", options.dry_run, "Only count");
  }
  {
    const auto [command, options] = add_command(queue, invocation, "rm", remove_queue, R"(
Remove a queue with everything in it

Removes its messages, remembered keys, settings and counters. Refused while messages are
leased, unless --force is given; their receipts are then stale. A later push creates the
queue anew.

  tarry queue rm orders --dry-run
  tarry queue rm orders --yes)");
    add_word(command, "QUEUE", options.queue, "The queue")->required();
    command.add_flag("--yes", options.yes, "Confirm: a removed queue cannot be brought back");
    command.add_flag("--force", options.force, "Remove it even while messages are leased");
    command.add_flag("--dry-run", options.dry_run, "Only count");
  }
}

}  // namespace tarry::app
