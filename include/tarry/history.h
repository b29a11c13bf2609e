// What has happened to a message, event by event: `Queue::history`, for queues with the setting
// `history`.
//
// Plain values; thread safety as for any value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/time.h>

namespace tarry {

enum class EventKind : std::uint8_t {
  pushed,
  imported,     ///< it came from another store, or from a file
  rescheduled,  ///< also by a push with the rule `earlier` or `later`
  claimed,
  retried,
  released,
  run_out,  ///< its lease ran out
  buried,
  died,  ///< after its last attempt, at its expiry, or because it was damaged
  revived,
  stopping,  ///< cancelled while it was leased
  acked,
  cancelled,
  expired,
};
inline constexpr std::size_t kEventKinds = 14;

[[nodiscard]] constexpr std::string_view to_string(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::pushed: return "pushed";
    case EventKind::imported: return "imported";
    case EventKind::rescheduled: return "rescheduled";
    case EventKind::claimed: return "claimed";
    case EventKind::retried: return "retried";
    case EventKind::released: return "released";
    case EventKind::run_out: return "run_out";
    case EventKind::buried: return "buried";
    case EventKind::died: return "died";
    case EventKind::revived: return "revived";
    case EventKind::stopping: return "stopping";
    case EventKind::acked: return "acked";
    case EventKind::cancelled: return "cancelled";
    case EventKind::expired: return "expired";
  }
  return "unknown";
}

struct MessageEvent {
  EventKind kind = EventKind::pushed;
  Time at{};                     ///< by the store's clock
  std::uint32_t attempt = 0;     ///< the attempt that it concerns; 0: none had begun
  std::optional<Time> due = {};  ///< the new due time, if the event sets one
  std::string reason = {};       ///< retried, buried, died: why, if it is known; up to 128 bytes
  std::string by = {};           ///< claimed: the client of a server that claimed it, or `relay`

  friend bool operator==(const MessageEvent&, const MessageEvent&) = default;
};

/// The answer of `Queue::history`.
struct MessageHistory {
  std::uint32_t limit = 0;                ///< the queue's `history`; 0: it keeps none
  std::vector<MessageEvent> events = {};  ///< the last ones, oldest first

  friend bool operator==(const MessageHistory&, const MessageHistory&) = default;
};

}  // namespace tarry
