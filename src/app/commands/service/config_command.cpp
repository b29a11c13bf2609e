// tarry config check: shows the settings that `tarry serve` would use, and where each value comes
// from.
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/service/serve_flags.h"
#include "app/serve/servable.h"
#include "base/text/text.h"
#include "core/settings/setting_text.h"
#include "core/settings/settings_table.h"
#include "schedule/definition.h"
#include "wire/json/json_writer.h"

namespace tarry::app {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

// A rule's settings in the form in which users write them.
Words words_of(const SettingsPatch& patch) {
  Words words;
  core::each_setting([&](const auto& row) {
    if (const auto& change = patch.*row.change)
      words.emplace_back(row.name, core::setting_text(*change));
  });
  return words;
}

void print_json(Output& output, const config::Config& held, const Result<void>& servable) {
  const auto& settings = config::serve_settings();
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object().name("settings").begin_array();
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const auto& value = held.held[i].value;
      json.begin_object().field("name", settings[i].name()).field("flag", settings[i].flag);
      json.field("environment", settings[i].environment).field("default", settings[i].standard);
      json.field_bool("reloads", settings[i].reloads);
      if (value) {
        json.text_field("value", config::shown(settings[i], *value));
        json.text_field("from", held.held[i].from);
      }
      json.end_object();
    }
    json.end_array().name("queues").begin_array();
    for (const presets::QueueRule& rule : held.queues.rules()) {
      json.begin_object().text_field("pattern", rule.pattern).name("settings").begin_object();
      for (const auto& [name, value] : words_of(rule.patch)) json.field(name, value);
      json.end_object().end_object();
    }
    json.end_array().name("relays").begin_array();
    for (const RelayPlan& plan : held.relays) {
      json.begin_object().text_field("name", plan.options.name).name("queues").begin_array();
      for (const std::string& queue : plan.options.relay.queues) json.string(queue);
      json.end_array().text_field("to", shown_sink(plan.to));
      json.field("threads", plan.options.threads).field("line", plan.line).end_object();
    }
    json.end_array().name("schedules").begin_array();
    for (const schedule::Definition& each : held.schedules.schedules) {
      json.begin_object().text_field("name", each.name);
      write_fields(json, each);
      json.end_object();
    }
    json.end_array().name("notes").begin_array();
    for (const std::string& line : notes_of(held)) json.string(line);
    json.end_array();
    if (!servable) json.text_field("refused", servable.error().message);
    json.end_object();
  });
}

void print_relays(Output& output, const std::vector<RelayPlan>& relays) {
  if (relays.empty()) return;
  output.print_line("");
  Table table(
      {{"RELAY", false, true}, {"QUEUES", false, true}, {"TO", false, true}, {"THREADS", true}});
  for (const RelayPlan& plan : relays) {
    table.add({plan.options.name, fmt::format("{}", fmt::join(plan.options.relay.queues, ", ")),
               shown_sink(plan.to), std::to_string(plan.options.threads)});
  }
  output.print(table);
}

void print_schedules(Output& output, const std::vector<schedule::Definition>& schedules) {
  if (schedules.empty()) return;
  output.print_line("");
  Table table({{"SCHEDULE", false, true}, {"WHEN"}, {"ZONE"}, {"QUEUE", false, true}});
  for (const schedule::Definition& each : schedules) {
    table.add({each.name, each.recurrence.when, each.recurrence.zone, each.queue});
  }
  output.print(table);
}

void print_rules(Output& output, const presets::QueueRules& queues) {
  if (queues.empty()) return;
  output.print_line("");
  Table rules({{"QUEUES", false, true}, {"SETTING"}, {"VALUE"}});
  for (const presets::QueueRule& rule : queues.rules()) {
    for (const auto& [name, value] : words_of(rule.patch)) rules.add({rule.pattern, name, value});
  }
  output.print(rules);
}

void print_tables(Output& output, const config::Config& held) {
  const auto& settings = config::serve_settings();
  Table table({{"SETTING"}, {"VALUE", false, true}, {"FROM", false, true}});
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto& value = held.held[i].value;
    table.add({settings[i].name(), value ? config::shown(settings[i], *value) : "",
               value ? held.held[i].from : "nobody"});
  }
  output.print(table);
  print_rules(output, held.queues);
  print_relays(output, held.relays);
  print_schedules(output, held.schedules.schedules);
}

ExitCode check(Invocation& invocation, const ServeFlags& flags) {
  ExitCode code{};
  const auto held = load_config(invocation, flags, code);
  if (!held) return code;
  const auto servable = check_servable(*held);
  if (invocation.output.json()) {
    print_json(invocation.output, *held, servable);
    return ExitCode::done;
  }
  print_tables(invocation.output, *held);
  for (const std::string& line : notes_of(*held)) invocation.output.note(line);
  if (!servable) invocation.output.note("tarry serve refuses this: " + servable.error().message);
  return ExitCode::done;
}

}  // namespace

void add_config_command(CLI::App& root, Invocation& invocation) {
  CLI::App& parent = add_group(root, "config", R"(
The server's configuration: check

  tarry config check --config tarry.toml)");
  const auto [command, flags] = add_command(parent, invocation, "check", check, R"(
Show the settings that tarry serve would use, and where each comes from

Takes the flags of tarry serve. Flags win over environment variables, and these over the
file. Logins in URLs are not shown, nor the path and query of a webhook.

  tarry config check --config tarry.toml
  tarry config check --config tarry.toml -o json)");
  add_serve_flags(command, flags);
}

}  // namespace tarry::app
