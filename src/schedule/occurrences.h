// Occurrences: the times that a recurrence has ahead, for people and clients to look at.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "schedule/calendar/recurrence.h"
#include "schedule/definition.h"
#include "wire/json/json_writer.h"

namespace tarry::schedule {

struct Occurrence {
  Time time;  // nominal
  Time due;   // with its jitter
};

/// At most `count` occurrences after that moment, in order. `name`: the schedule's.
[[nodiscard]] std::vector<Occurrence> occurrences(const Recurrence& recurrence,
                                                  std::string_view name, Time after,
                                                  std::uint32_t count);

/// Writes {"occurrences":[{"time","due","local"}]}.
void write_occurrences(wire::JsonWriter& json, const Recurrence& recurrence,
                       const std::vector<Occurrence>& found);

/// What is asked before a schedule is saved.
struct OccurrencesQuery {
  std::string name = {};  // of the schedule, from which the jitter follows
  RecurrenceSpec recurrence;
  std::optional<Time> from = {};  // empty: now
  std::uint32_t count = 5;
};
inline constexpr std::uint32_t kMostOccurrences = 1'000;  // of one answer

/// Error: `invalid_argument`, which names the field.
[[nodiscard]] Result<OccurrencesQuery> decode_occurrences_query(std::string_view json);

/// Writes the schedule as an object, with its next occurrence after `now` unless it is paused.
void write_schedule(wire::JsonWriter& json, const Definition& definition, Time now);

}  // namespace tarry::schedule
