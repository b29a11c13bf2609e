// An event of a message's history as bytes, as docs/formats/journal.md has them. A shard keeps them
// in this form in RAM, too, so that a copy of a message's full record takes them as they are.
//
// Pure functions; the views of an entry point into the bytes that it was read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/history.h>

namespace tarry::embedded {

struct EventEntry {
  EventKind kind = EventKind::pushed;
  std::uint32_t attempt = 0;  // kept up to 65,535, like a queue's `max_attempts`
  std::int64_t at_ms = 0;
  std::int64_t due_ms = 0;  // only if the kind sets a due time
  std::string_view text;    // a reason, or who claimed

  friend bool operator==(const EventEntry&, const EventEntry&) = default;
};

/// True if events of that kind have a due time.
[[nodiscard]] constexpr bool sets_due(EventKind kind) noexcept {
  return kind == EventKind::pushed || kind == EventKind::imported ||
         kind == EventKind::rescheduled || kind == EventKind::retried || kind == EventKind::revived;
}

inline constexpr std::size_t kEventFixed = 1 + 1 + 2 + 8;
/// The most bytes of an event without its text.
inline constexpr std::size_t kEventBytes = kEventFixed + 8;

/// The beginning of the text that fits into an event. It ends with a whole character of UTF-8.
[[nodiscard]] std::string_view event_text(std::string_view text) noexcept;

/// The text must fit: `event_text`.
void append_event(std::string& out, const EventEntry& event);

/// Takes one event from the front of `in`. Returns nothing if the bytes are no event.
[[nodiscard]] std::optional<EventEntry> take_event(std::string_view& in) noexcept;

}  // namespace tarry::embedded
