// The words and flags that say when a schedule happens.
//
// Thread safety: plain values.
#pragma once

#include <optional>
#include <string>

#include <tarry/time.h>
#include <CLI/CLI.hpp>

#include "schedule/calendar/recurrence.h"

namespace tarry::app {

struct ScheduleWords {
  std::string when;
  std::string zone;
  std::optional<Time> start;
  std::optional<Time> end;
  std::optional<Millis> jitter;

  [[nodiscard]] schedule::RecurrenceSpec spec() const;
};

/// Adds WHEN, --zone, --start, --end and --jitter.
void add_schedule_words(CLI::App& command, ScheduleWords& into);

}  // namespace tarry::app
