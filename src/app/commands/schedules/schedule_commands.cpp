// tarry schedule add, ls, show, pause, resume, run, rm: the schedules of a store.
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/schedules/schedule_next_command.h"
#include "app/commands/schedules/schedule_words.h"
#include "app/output/json.h"
#include "app/system/line_reader.h"
#include "base/text/text.h"
#include "core/limits.h"
#include "schedule/schedules.h"

namespace tarry::app {
namespace {

using schedule::Definition;
using schedule::Listed;
using schedule::Missed;

constexpr std::array kPolicies{Missed::skip, Missed::one, Missed::all};

const std::vector<std::string_view>& policy_names() {
  static const std::vector<std::string_view> kNames{"skip", "one", "all"};
  return kNames;
}

struct AddWords : ScheduleWords {
  std::string name;
  std::string queue;
  std::optional<std::string> payload;
  std::vector<std::string> headers;
  std::optional<std::uint32_t> priority;
  std::optional<std::string> missed;
};

struct NameWords {
  std::string name;
};

struct NoWords {};

Result<Definition> definition_from(const AddWords& words) {
  Definition definition;
  definition.name = words.name;
  definition.recurrence = words.spec();
  definition.queue = words.queue;
  definition.payload = words.payload.value_or("");
  if (words.payload == "-") {
    auto read = read_all(STDIN_FILENO, core::kMaxMaxPayload);
    if (!read) return std::move(read).error();
    definition.payload = *std::move(read);
  }
  for (const std::string& word : words.headers) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorCode::invalid_argument,
                   "--header " + base::quoted(word) + ": must be NAME=VALUE"};
    }
    definition.headers.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  definition.priority = words.priority.value_or(kDefaultPriority);
  for (const Missed policy : kPolicies) {
    if (words.missed == to_string(policy)) definition.missed = policy;
  }
  return definition;
}

/// Prints one word about a schedule.
ExitCode say(Invocation& invocation, const std::string& name, std::string_view outcome,
             std::string_view key = {}) {
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("name", name).field("outcome", outcome);
      if (!key.empty()) json.text_field("key", key);
      json.end_object();
    });
    return ExitCode::done;
  }
  invocation.output.print_line(key.empty() ? outcome
                                           : std::string(outcome) + " " + std::string(key));
  return ExitCode::done;
}

ExitCode add(Invocation& invocation, const AddWords& words) {
  const auto definition = definition_from(words);
  if (!definition) return invocation.output.fail(definition.error());
  // Refused before a store is made.
  if (const auto good = check(*definition); !good) return invocation.output.fail(good.error());
  ExitCode code{};
  auto store = invocation.open(code, {.create = true});
  if (!store) return code;
  const auto is_new = put(*store, *definition);
  if (!is_new) return invocation.output.fail(is_new.error());
  invocation.note_if_fleeting();
  return say(invocation, words.name, *is_new ? "added" : "replaced");
}

std::string state_of(const Listed& listed) {
  if (listed.definition.paused) return "paused";
  return listed.next ? "active" : "idle";
}

void write(wire::JsonWriter& json, const Listed& listed) {
  json.begin_object().text_field("name", listed.definition.name);
  write_fields(json, listed.definition);
  if (listed.next) json.time_field("next", *listed.next);
  if (listed.due) json.time_field("due", *listed.due);
  json.end_object();
}

ExitCode ls(Invocation& invocation, const NoWords& /*words*/) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const auto all = schedule::list(*store);
  if (!all) return invocation.output.fail(all.error());
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().name("schedules").begin_array();
      for (const Listed& each : *all) write(json, each);
      json.end_array().end_object();
    });
    return ExitCode::done;
  }
  Table table(
      {{"NAME", false, true}, {"WHEN"}, {"ZONE"}, {"QUEUE", false, true}, {"STATE"}, {"NEXT"}});
  for (const Listed& each : *all) {
    const schedule::RecurrenceSpec& spec = each.definition.recurrence;
    const std::string next = each.due ? time_text(*each.due) : "";
    table.add(
        {each.definition.name, spec.when, spec.zone, each.definition.queue, state_of(each), next});
  }
  invocation.output.print(table);
  return ExitCode::done;
}

ExitCode show(Invocation& invocation, const NameWords& words) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const auto found = schedule::show(*store, words.name);
  if (!found) return invocation.output.fail(found.error());
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) { write(json, *found); });
    return ExitCode::done;
  }
  const Definition& definition = found->definition;
  const schedule::RecurrenceSpec& spec = definition.recurrence;
  Sheet sheet;
  sheet.add("name", definition.name);
  sheet.add("state", state_of(*found));
  sheet.add("when", spec.when);
  if (!spec.zone.empty()) sheet.add("zone", spec.zone);
  if (spec.start) sheet.add("start", time_text(*spec.start));
  if (spec.end) sheet.add("end", time_text(*spec.end));
  if (spec.jitter.count() > 0) sheet.add("jitter", base::format_duration_ms(spec.jitter.count()));
  sheet.add("missed", to_string(definition.missed));
  if (found->next) sheet.add("next", time_text(*found->next));
  if (found->due && found->due != found->next) sheet.add("due", time_text(*found->due));
  sheet.add("queue", definition.queue);
  sheet.add("priority", std::to_string(definition.priority));
  for (const Header& header : definition.headers) {
    sheet.add("header", header.name + "=" + header.value);
  }
  sheet.add("payload", definition.payload);
  invocation.output.print(sheet);
  return ExitCode::done;
}

/// Runs one of the verbs that take a name alone.
template <typename Verb>
ExitCode with_store(Invocation& invocation, const std::string& name, std::string_view outcome,
                    Verb verb) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Result<void> done = verb(*store);
  if (!done) return invocation.output.fail(done.error());
  return say(invocation, name, outcome);
}

ExitCode pause(Invocation& invocation, const NameWords& words) {
  return with_store(invocation, words.name, "paused",
                    [&](const Store& store) { return schedule::pause(store, words.name, true); });
}

ExitCode resume(Invocation& invocation, const NameWords& words) {
  return with_store(invocation, words.name, "resumed",
                    [&](const Store& store) { return schedule::pause(store, words.name, false); });
}

ExitCode rm(Invocation& invocation, const NameWords& words) {
  return with_store(invocation, words.name, "removed",
                    [&](const Store& store) { return schedule::remove(store, words.name); });
}

ExitCode run_schedule(Invocation& invocation, const NameWords& words) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const auto key = schedule::run_now(*store, words.name);
  if (!key) return invocation.output.fail(key.error());
  return say(invocation, words.name, "pushed", *key);
}

void add_named(CLI::App& group, Invocation& invocation, const std::string& name,
               ExitCode (*action)(Invocation&, const NameWords&), const std::string& help) {
  const auto [command, words] = add_command(group, invocation, name, action, help);
  add_word(command, "NAME", words.name, "The schedule")->required();
}

}  // namespace

void add_schedule_commands(CLI::App& root, Invocation& invocation) {
  CLI::App& group = add_group(root, "schedule", R"(
Push messages again and again: by cron expressions, or at intervals

Servers (tarry serve) run the schedules of their store.

  tarry schedule add report '0 9 * * MON-FRI' reports --zone Europe/Berlin
  tarry schedule ls)");
  const auto [command, words] = add_command(group, invocation, "add", add, R"(
Add a schedule, or replace the one of that name

Each occurrence is pushed to QUEUE under the key NAME@TIME, with the time in UTC. The
schedule begins now, or at --start. `tarry schedule next` shows the times of WHEN.

  tarry schedule add report '0 9 * * MON-FRI' reports '{"kind":"daily"}'
  tarry schedule add sweep 'every 15m' jobs --jitter 1m --missed skip)");
  add_word(command, "NAME", words.name, "Its name: letters, digits and -_.:")->required();
  add_schedule_words(command, words);
  add_word(command, "QUEUE", words.queue, "The queue that gets the messages")->required();
  add_word(command, "PAYLOAD", words.payload, "Payload of the messages, or - for stdin");
  add_words(command, "--header", words.headers, "NAME=VALUE, for the messages; may be repeated");
  add_number(command, "--priority", words.priority, 0, 4'294'967'295,
             "Priority of the messages, lower first (default: 1024)");
  add_choice(command, "--missed", words.missed, policy_names(),
             "What becomes of occurrences that no server could push for a minute\n(default: one, "
             "the latest of them)");
  add_schedule_next_command(group, invocation);
  const auto [list, none] = add_command(group, invocation, "ls", ls, R"(
List the schedules

  tarry schedule ls -o json)");
  static_cast<void>(list);
  static_cast<void>(none);
  add_named(group, invocation, "show", show, R"(
Show a schedule, and its next occurrence

  tarry schedule show report)");
  add_named(group, invocation, "pause", pause, R"(
Pause a schedule: until it is resumed, its occurrences do not happen

  tarry schedule pause report)");
  add_named(group, invocation, "resume", resume, R"(
Resume a paused schedule; what happened in the pause is not made up for

  tarry schedule resume report)");
  add_named(group, invocation, "run", run_schedule, R"(
Push a message of the schedule now, besides its occurrences

  tarry schedule run report)");
  add_named(group, invocation, "rm", rm, R"(
Remove a schedule; messages that it has pushed stay

  tarry schedule rm report)");
}

}  // namespace tarry::app
