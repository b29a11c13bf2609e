// The next occurrences of a cron expression or an interval.
#include "app/commands/schedules/schedule_next_command.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line/command.h"
#include "app/commands/schedules/schedule_words.h"
#include "app/output/json.h"
#include "base/text/text.h"
#include "schedule/occurrences.h"
#include "schedule/schedules.h"

namespace tarry::app {
namespace {

constexpr std::uint32_t kDefaultCount = 5;
constexpr std::uint32_t kMaxCount = 100'000;

struct NextWords : ScheduleWords {
  std::string name;
  std::optional<Time> from;
  std::optional<std::uint32_t> count;
};

/// What to show: the name, from which the jitter follows, and when.
struct Wanted {
  std::string name;
  schedule::RecurrenceSpec spec;
};

/// Reads the saved schedule whose name was given as WHEN. An expression has blanks, or begins with
/// @, so it cannot be a name. Prints what is wrong.
std::optional<Wanted> saved(Invocation& invocation, const NextWords& words, ExitCode& code) {
  if (!words.zone.empty() || words.start || words.end || words.jitter || !words.name.empty()) {
    code = invocation.output.fail(
        Error{ErrorCode::invalid_argument,
              "--zone, --start, --end, --jitter and --name need an expression, and " +
                  base::quoted(words.when) + " is a schedule's name"});
    return std::nullopt;
  }
  auto store = invocation.open(code);
  if (!store) return std::nullopt;
  auto definition = schedule::get(*store, words.when);
  if (definition) return Wanted{words.when, std::move(definition->recurrence)};
  code = invocation.output.fail(definition.error());
  return std::nullopt;
}

ExitCode next(Invocation& invocation, const NextWords& words) {
  ExitCode code{};
  const auto wanted = schedule::check_name(words.when)
                          ? saved(invocation, words, code)
                          : std::optional(Wanted{words.name, words.spec()});
  if (!wanted) return code;
  const auto recurrence = schedule::Recurrence::make(wanted->spec);
  if (!recurrence) return invocation.output.fail(recurrence.error());
  const Time from =
      words.from.value_or(std::chrono::floor<Millis>(std::chrono::system_clock::now()));
  const auto found =
      schedule::occurrences(*recurrence, wanted->name, from, words.count.value_or(kDefaultCount));
  if (invocation.output.json()) {
    invocation.output.print_json(
        [&](wire::JsonWriter& json) { write_occurrences(json, *recurrence, found); });
    return ExitCode::done;
  }
  if (found.empty()) {
    invocation.output.note("there is no occurrence after that time");
    return ExitCode::done;
  }
  std::vector<Column> columns{{"LOCAL TIME"}, {"TIME"}};
  const bool has_jitter = wanted->spec.jitter > Millis(0);
  if (has_jitter) columns.push_back({"DUE"});
  Table table(std::move(columns));
  for (const schedule::Occurrence& each : found) {
    const std::string local = recurrence->local_text(each.time);
    const std::string time = time_text(each.time);
    const std::string due = time_text(each.due);
    if (has_jitter) {
      table.add({local, time, due});
    } else {
      table.add({local, time});
    }
  }
  invocation.output.print(table);
  return ExitCode::done;
}

}  // namespace

void add_schedule_next_command(CLI::App& group, Invocation& invocation) {
  const auto [command, words] = add_command(group, invocation, "next", next, R"(
Show the next times of a schedule, a cron expression or an interval

A cron expression has five fields (minute, hour, day of month, month, day of week), or six
with the second before them. It goes by the local clock of --zone. A local time that the
clock skips happens at the moment of the change; one that comes twice happens the first
time. An interval such as "every 15m" counts from --start, or from 1970.

  tarry schedule next report
  tarry schedule next '0 9 * * MON-FRI' --zone Europe/Berlin
  tarry schedule next '0 0 L * *' --count 12
  tarry schedule next 'every 15m' --jitter 1m --name report -o json)");
  add_schedule_words(command, words);
  add_word(command, "--name", words.name, "The schedule's name, from which --jitter follows");
  add_time(command, "--from", words.from, "Show occurrences after this time (default: now)");
  add_number(command, "--count", words.count, 1, kMaxCount,
             "Number of occurrences, 1 to 100000 (default: 5)");
}

}  // namespace tarry::app
