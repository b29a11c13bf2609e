// The words of a message's life: states, outcomes, the fields of a push and the answer of `get`.
// Plain values; no thread safety of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/history.h>
#include <tarry/time.h>

namespace tarry {

/// Among due messages, lower goes first; only the due time decides when.
inline constexpr std::uint32_t kDefaultPriority = 1024;

enum class State : std::uint8_t {
  scheduled,   ///< not due yet
  ready,       ///< due, waiting for a claim
  leased,      ///< claimed, under a lease
  dead,        ///< set aside after its last attempt, or buried
  remembered,  ///< acked, cancelled or expired; only its key is still known
};

[[nodiscard]] constexpr std::string_view to_string(State state) noexcept {
  switch (state) {
    case State::scheduled: return "scheduled";
    case State::ready: return "ready";
    case State::leased: return "leased";
    case State::dead: return "dead";
    case State::remembered: return "remembered";
  }
  return "unknown";
}

/// The result of a verb. Every verb says what happened; no verb says "ok" when it may have failed.
enum class Outcome : std::uint8_t {
  pushed,       ///< push: accepted as a new message
  exists,       ///< push: the key is taken; nothing changed
  kept,         ///< push: the existing message stays as it is
  replaced,     ///< push: payload, due and attempts are new
  moved,        ///< push with earlier or later: only the due time changed
  in_flight,    ///< push, reschedule: a delivery is running; nothing changed
  settled,      ///< the key is remembered: its message has ended; nothing changed
  cancelled,    ///< cancel: no delivery begins from now on
  stopping,     ///< cancel: the running delivery may finish, no other begins
  unknown,      ///< there is no such message
  rescheduled,  ///< reschedule: the message has the new due time
  revived,      ///< the message was dead, and will be delivered again
  done,         ///< settle, extend: the claim was live, and the action is done
  stale,        ///< settle, extend: the receipt names no live claim; nothing changed
};

[[nodiscard]] constexpr std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::pushed: return "pushed";
    case Outcome::exists: return "exists";
    case Outcome::kept: return "kept";
    case Outcome::replaced: return "replaced";
    case Outcome::moved: return "moved";
    case Outcome::in_flight: return "in_flight";
    case Outcome::settled: return "settled";
    case Outcome::cancelled: return "cancelled";
    case Outcome::stopping: return "stopping";
    case Outcome::unknown: return "unknown";
    case Outcome::rescheduled: return "rescheduled";
    case Outcome::revived: return "revived";
    case Outcome::done: return "done";
    case Outcome::stale: return "stale";
  }
  return "unknown";
}

/// How a push treats a taken key.
enum class IfExists : std::uint8_t {
  reject,   ///< answer `exists`
  keep,     ///< answer `kept` and the existing due time
  replace,  ///< new payload, headers, priority and due time; attempts start again
  earlier,  ///< move the message if the new due time is earlier
  later,    ///< move the message if the new due time is later
};

[[nodiscard]] constexpr std::string_view to_string(IfExists rule) noexcept {
  switch (rule) {
    case IfExists::reject: return "reject";
    case IfExists::keep: return "keep";
    case IfExists::replace: return "replace";
    case IfExists::earlier: return "earlier";
    case IfExists::later: return "later";
  }
  return "unknown";
}

/// How a remembered message ended.
enum class Ending : std::uint8_t {
  acked,
  cancelled,  ///< while waiting or dead; or while leased, if that delivery ended without an ack
  expired,    ///< its time to be delivered was over (`Push::expire`)
};

[[nodiscard]] constexpr std::string_view to_string(Ending ending) noexcept {
  switch (ending) {
    case Ending::acked: return "acked";
    case Ending::cancelled: return "cancelled";
    case Ending::expired: return "expired";
  }
  return "unknown";
}

/// How to end a claim.
enum class Action : std::uint8_t {
  ack,      ///< done
  retry,    ///< again after a delay (default: the queue's backoff)
  release,  ///< again now, attempt not counted
  bury,     ///< set aside as dead
};

[[nodiscard]] constexpr std::string_view to_string(Action action) noexcept {
  switch (action) {
    case Action::ack: return "ack";
    case Action::retry: return "retry";
    case Action::release: return "release";
    case Action::bury: return "bury";
  }
  return "unknown";
}

// Each of these enums can be printed to a stream, as its `to_string` spells it.
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, State word) {
  return out << to_string(word);
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Outcome word) {
  return out << to_string(word);
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, IfExists word) {
  return out << to_string(word);
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Ending word) {
  return out << to_string(word);
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Action word) {
  return out << to_string(word);
}

/// A view of these bytes (for example of a `std::vector<std::byte>`) as text, for `Push::payload`.
/// Copies nothing.
[[nodiscard]] inline std::string_view bytes(std::span<const std::byte> data) noexcept {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}
/// The same for a `std::vector<unsigned char>`.
[[nodiscard]] inline std::string_view bytes(std::span<const unsigned char> data) noexcept {
  return bytes(std::as_bytes(data));
}

struct Header {
  std::string name = {};
  std::string value = {};
  friend bool operator==(const Header&, const Header&) = default;
};
using Headers = std::vector<Header>;

/// One message to push. The views are copied before the call returns.
struct Push {
  std::string_view key = {};      ///< up to 512 bytes; empty: the store generates one
  std::string_view payload = {};  ///< any bytes, up to the store's limit (1 MiB unless set)
  Due due = {};                   ///< `tarry::in(30min)`, `tarry::at(moment)`; default: now
  Headers headers = {};           ///< up to 16 KiB together
  std::uint32_t priority = kDefaultPriority;
  std::optional<IfExists> if_exists = {};  ///< default: the queue's
  std::uint32_t max_attempts = 0;          ///< 0: the queue's
  /// The message expires so long after its due time, 1 ms .. 100 years: from then on no claim gets
  /// it. A reschedule moves that moment, a retry does not. Default: the queue's `expire`.
  std::optional<Millis> expire = {};
  /// The message expires at this moment, which must be after its due time; a reschedule does not
  /// move it. Instead of `expire`.
  std::optional<Time> expire_at = {};
  /// 0 .. 365 d: due at the moment in [due, due + spread] at which the queue has least to do;
  /// `Pushed::due` says when.
  Millis spread{0};
};

/// The result of a push.
struct Pushed {
  Outcome outcome = Outcome::pushed;
  std::uint64_t id = 0;  ///< of the message that is there now; 0 if there is none
  std::string key;
  Time due{};  ///< of the message that is there now

  friend bool operator==(const Pushed& pushed, Outcome wanted) noexcept {
    return pushed.outcome == wanted;
  }
};

/// How and when a remembered message ended.
struct Settlement {
  Ending how = Ending::acked;
  Time when{};
  friend bool operator==(const Settlement&, const Settlement&) = default;
};

/// The answer to cancel, reschedule and the settling verbs.
struct Answer {
  Outcome outcome = Outcome::unknown;
  std::optional<Time> due;               ///< reschedule, retry: the new due time
  std::optional<Settlement> settlement;  ///< if the outcome is `settled`

  friend bool operator==(const Answer& answer, Outcome wanted) noexcept {
    return answer.outcome == wanted;
  }
};

/// How often things happened to one message. They survive retries, releases and revives.
struct Tallies {
  std::uint32_t claims = 0;
  std::uint32_t run_outs = 0;  ///< leases that ran out
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t revives = 0;
  friend bool operator==(const Tallies&, const Tallies&) = default;
};

/// Everything that a store knows about one message.
struct MessageInfo {
  std::uint64_t id = 0;
  std::string queue;
  std::string key;
  State state = State::scheduled;
  bool stopping = false;  ///< leased, and then cancelled
  Time due{};
  /// When the store accepted this push, by the store's clock, rounded down (on Redis to the
  /// minute). A `replace` is a new push; a move to another store is not. Empty if the message is
  /// only remembered, or if the time is not known: an older version wrote the message, or the store
  /// is a layout.
  std::optional<Time> pushed;
  std::uint32_t priority = kDefaultPriority;
  std::uint32_t attempt = 0;       ///< attempts used so far
  std::uint32_t max_attempts = 0;  ///< its own; 0: the queue's
  std::optional<Millis> expire;  ///< how long after its due time it expires; empty: at a fixed time
  std::optional<Time> expire_at;  ///< when it expires; empty: never
  Tallies tallies;
  std::optional<Millis> lease_left;      ///< leased only
  std::optional<Settlement> settlement;  ///< remembered only
  std::optional<Time> kept_until;        ///< dead and remembered: when it will be forgotten
  std::string reason;                    ///< dead only: why
  std::string group = {};                ///< its group in its queue; empty: none
  /// `get` only: how many messages of its group are leased, if the queue has `group_max_leased` or
  /// `group_order` push.
  std::uint64_t group_leased = 0;
  /// `get` only: `group_order` push holds it, because an earlier message of its group has not ended
  /// or another one is leased.
  bool group_waits = false;
  /// `get` only: the message's queue is paused, so nobody can claim the message now.
  bool paused = false;
  std::optional<Time> paused_until;  ///< empty while paused: until resumed
  /// For `get` of a leased message through a server: the address and User-Agent of the client that
  /// claimed the message there. Empty if the server does not know the client.
  std::string holder;
  MessageHistory history = {};  ///< empty; `Queue::history` asks for it
  Headers headers;
  std::string payload;
};

}  // namespace tarry
