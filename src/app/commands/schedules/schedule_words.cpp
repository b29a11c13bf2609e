#include "app/commands/schedules/schedule_words.h"

#include "app/command_line/command.h"

namespace tarry::app {

schedule::RecurrenceSpec ScheduleWords::spec() const {
  return {when, zone, start, end, jitter.value_or(Millis(0))};
}

void add_schedule_words(CLI::App& command, ScheduleWords& into) {
  add_word(command, "WHEN", into.when, "A cron expression, @daily and the like, or \"every 15m\"")
      ->required();
  add_word(command, "--zone", into.zone, "Time zone, such as Europe/Berlin (default: UTC)");
  add_time(command, "--start", into.start, "No occurrence before this time");
  add_time(command, "--end", into.end, "No occurrence after this time");
  add_duration(command, "--jitter", into.jitter,
               "Delay each occurrence by up to this much, always by the same");
}

}  // namespace tarry::app
