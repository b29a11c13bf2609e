// Definition: what a schedule does, and when. It is the payload of the schedule's message, as JSON:
//
//   {"when","zone","start_ms","end_ms","jitter_ms","queue","payload","headers","priority",
//    "missed","paused"}
//
// A plain value: thread safe as such.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/result.h>

#include "schedule/calendar/recurrence.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::schedule {

/// What becomes of occurrences that nobody could push within a minute.
enum class Missed : std::uint8_t {
  skip,  // none of them is pushed
  one,   // only the latest is pushed
  all,   // each is pushed
};

[[nodiscard]] constexpr std::string_view to_string(Missed missed) noexcept {
  switch (missed) {
    case Missed::skip: return "skip";
    case Missed::one: return "one";
    case Missed::all: return "all";
  }
  return "unknown";
}

inline constexpr std::size_t kMaxName = 128;  // bytes

struct Definition {
  std::string name;
  RecurrenceSpec recurrence;
  std::string queue;  // gets the occurrences
  std::string payload = {};
  Headers headers = {};
  std::uint32_t priority = kDefaultPriority;
  Missed missed = Missed::one;
  bool paused = false;

  friend bool operator==(const Definition&, const Definition&) = default;
};

/// 1 to 128 of A-Z a-z 0-9 and -_.:, the first no dot. Errors: `invalid_argument`.
[[nodiscard]] Result<void> check_name(std::string_view name);

/// Checks all of it, the recurrence too. Errors: those of check_name, of queues' names, of headers,
/// and of Recurrence::make.
[[nodiscard]] Result<void> check(const Definition& definition);

/// Writes the members of its object, without the name.
void write_fields(wire::JsonWriter& json, const Definition& definition);
[[nodiscard]] std::string encode(const Definition& definition);

/// Reads the fields that say when: "when", "zone", "start", "end", "jitter".
[[nodiscard]] RecurrenceSpec read_recurrence(wire::Fields& fields);

/// Reads what `encode` has written, or the same from outside. `unknown`: whether unknown fields are
/// refused. The definition is not checked. Errors: `invalid_argument`.
[[nodiscard]] Result<Definition> decode(std::string_view name, std::string_view json,
                                        wire::Unknown unknown);

}  // namespace tarry::schedule
