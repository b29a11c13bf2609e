// Why a message has not been delivered, or what has become of it.
//
// Plain values; thread safety as for any value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/settings.h>

namespace tarry {

/// What decides about a message at this moment.
enum class Cause : std::uint8_t {
  ended,           ///< acked or cancelled: it will not be delivered
  dead,            ///< set aside; only a revive or a reschedule makes it due again
  not_due,         ///< its time has not come
  retry_not_due,   ///< an attempt ended without an ack, and the time of the next has not come
  leased,          ///< a consumer has it
  stopping,        ///< a consumer has it, and it was cancelled meanwhile
  paused,          ///< due, but its queue is paused
  limited,         ///< due, but a limit of its queue or the order of its group holds it
  relay_down,      ///< due, but the sink of a relay that serves the queue does not take it
  no_consumer,     ///< due, but no claim waits, and no message of the queue is leased
  consumers_busy,  ///< due, but no claim waits; consumers have other messages of the queue
  offered,         ///< due, and claims wait: the store is about to hand it out
};

[[nodiscard]] constexpr std::string_view to_string(Cause cause) noexcept {
  switch (cause) {
    case Cause::ended: return "ended";
    case Cause::dead: return "dead";
    case Cause::not_due: return "not_due";
    case Cause::retry_not_due: return "retry_not_due";
    case Cause::leased: return "leased";
    case Cause::stopping: return "stopping";
    case Cause::paused: return "paused";
    case Cause::limited: return "limited";
    case Cause::relay_down: return "relay_down";
    case Cause::no_consumer: return "no_consumer";
    case Cause::consumers_busy: return "consumers_busy";
    case Cause::offered: return "offered";
  }
  return "?";
}

/// The answer of `Queue::why`.
struct Why {
  Cause cause = Cause::not_due;
  std::string text;     ///< the cause in one or two sentences, with the figures that show it
  MessageInfo message;  ///< as `get` tells it, without its payload
  QueueStats queue;     ///< read after the message, so the two may be a moment apart
};

}  // namespace tarry
