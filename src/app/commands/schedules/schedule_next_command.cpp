// The next occurrences of a cron expression or an interval.
#include "app/commands/schedules/schedule_next_command.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/command_line/command.h"
#include "app/commands/schedules/schedule_words.h"
#include "app/output/json.h"
#include "base/text.h"

namespace tarry::app {
namespace {

constexpr std::uint32_t kDefaultCount = 5;
constexpr std::uint32_t kMaxCount = 100'000;

struct NextWords : ScheduleWords {
  std::string name;
  std::optional<Time> from;
  std::optional<std::uint32_t> count;
};

struct Occurrence {
  Time time;
  Time due;
};

std::vector<Occurrence> occurrences(const schedule::Recurrence& recurrence,
                                    const NextWords& words) {
  std::vector<Occurrence> found;
  Time after = words.from.value_or(std::chrono::floor<Millis>(std::chrono::system_clock::now()));
  for (std::uint32_t left = words.count.value_or(kDefaultCount); left > 0; --left) {
    const auto next = recurrence.next(after);
    if (!next) break;
    found.push_back({*next, recurrence.with_jitter(words.name, *next)});
    after = *next;
  }
  return found;
}

ExitCode next(Session& session, const NextWords& words) {
  const auto recurrence = schedule::Recurrence::make(words.spec());
  if (!recurrence) return session.output.fail(recurrence.error());
  const auto found = occurrences(*recurrence, words);
  if (session.output.json()) {
    session.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().name("occurrences").begin_array();
      for (const Occurrence& each : found) {
        json.begin_object().time_field("time", each.time).time_field("due", each.due);
        json.field("local", recurrence->local_text(each.time)).end_object();
      }
      json.end_array().end_object();
    });
    return ExitCode::done;
  }
  if (found.empty()) {
    session.output.note("there is no occurrence after that time");
    return ExitCode::done;
  }
  std::vector<Column> columns{{"LOCAL TIME"}, {"TIME"}};
  if (words.jitter) columns.push_back({"DUE"});
  Table table(std::move(columns));
  for (const Occurrence& each : found) {
    const std::string local = recurrence->local_text(each.time);
    const std::string time = time_text(each.time);
    const std::string due = time_text(each.due);
    if (words.jitter) {
      table.add({local, time, due});
    } else {
      table.add({local, time});
    }
  }
  session.output.print(table);
  return ExitCode::done;
}

}  // namespace

void add_schedule_next_command(CLI::App& group, Session& session) {
  const auto [command, words] = add_command(group, session, "next", next, R"(
Show the next times of a cron expression or an interval

A cron expression has five fields (minute, hour, day of month, month, day of week), or six
with the second before them. It goes by the local clock of --zone. A local time that the
clock skips happens at the moment of the change; one that comes twice happens the first
time. An interval such as "every 15m" counts from --start, or from 1970.

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
