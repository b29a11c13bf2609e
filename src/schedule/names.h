// The queues of schedules, and the keys in them.
//
// A schedule is a message in the queue `tarry.schedules`: its key is the schedule's name, its
// payload the definition; it falls due in a hundred years. A **timer** is a message in the queue
// `tarry.timers`: `NAME@TIME` falls due a lead (turn.h) before the schedule's occurrence with that
// nominal time happens. The server that claims a timer pushes the occurrence under the same key
// into the schedule's queue, due at its time, pushes the next timer, and acks. `NAME@new.N` is a
// schedule's first timer: it is due at once, and pushes only the next one.
//
// Pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/time.h>

namespace tarry::schedule {

inline constexpr std::string_view kSchedulesQueue = "tarry.schedules";
inline constexpr std::string_view kTimersQueue = "tarry.timers";
inline constexpr std::uint32_t kTimerAttempts = 65'535;
/// The due time of messages that are not meant to fall due: definitions, and the record of what a
/// configuration declares. A message may wait for 36,525 days at most.
inline constexpr Due kNeverDue = Due::after(std::chrono::days(36'000));
inline constexpr std::size_t kMaxSchedules = 100'000;

/// `report@2026-03-29T01:00:00Z`: the key of an occurrence and of its timer.
[[nodiscard]] std::string occurrence_key(std::string_view name, Time nominal);

/// `report@new.5f0c...`, different each time.
[[nodiscard]] std::string first_timer_key(std::string_view name);
/// `report@run.5f0c...`: an occurrence that somebody asked for, different each time.
[[nodiscard]] std::string run_key(std::string_view name);

struct Timer {
  std::string_view name;
  std::optional<Time> nominal;  // empty: the schedule's first timer
};
/// Nothing if the key is none of a timer.
[[nodiscard]] std::optional<Timer> parse_timer(std::string_view key);

}  // namespace tarry::schedule
