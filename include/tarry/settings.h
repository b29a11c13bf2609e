// Queue settings and queue figures. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/time.h>

namespace tarry {

struct QueueSettings {
  Millis lease = std::chrono::seconds(30);       ///< 1 ms .. 7 d
  std::uint32_t max_attempts = 10;               ///< 1 .. 65535
  Millis backoff_min = std::chrono::seconds(1);  ///< first retry's delay, 0 .. backoff_max; doubles
  Millis backoff_max = std::chrono::minutes(10);  ///< 0 .. 365 d
  Millis remember{0};  ///< 0 .. 365 d: how long the key of what ended stays known
  Millis dead_keep = std::chrono::hours(24 * 30);  ///< 1 s .. 3650 d
  IfExists if_exists = IfExists::reject;

  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

/// What to change of a queue's settings; what is empty stays.
struct SettingsPatch {
  std::optional<Millis> lease = {};
  std::optional<std::uint32_t> max_attempts = {};
  std::optional<Millis> backoff_min = {};
  std::optional<Millis> backoff_max = {};
  std::optional<Millis> remember = {};
  std::optional<Millis> dead_keep = {};
  std::optional<IfExists> if_exists = {};

  friend bool operator==(const SettingsPatch&, const SettingsPatch&) = default;
};

/// Counters since the store was made; they survive restarts. At any moment
/// accepted = scheduled + ready + leased + dead
///          + acked + cancelled + replaced + expired + purged + moved_away.
struct QueueCounters {
  std::uint64_t accepted = 0;
  std::uint64_t acked = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t replaced = 0;
  std::uint64_t expired = 0;  ///< from the dead, when dead_keep had passed
  std::uint64_t purged = 0;
  std::uint64_t moved_away = 0;
  // Not part of the sum:
  std::uint64_t claims = 0;
  std::uint64_t retries = 0;
  std::uint64_t releases = 0;
  std::uint64_t run_outs = 0;  ///< leases that ran out before the message was settled
  std::uint64_t buries = 0;
  std::uint64_t revives = 0;
  std::uint64_t reschedules = 0;
  std::uint64_t damaged = 0;  ///< set aside with the dead at a claim: their bytes did not check

  friend bool operator==(const QueueCounters&, const QueueCounters&) = default;
};

struct QueueStats {
  std::string queue;
  /// Redis only, and not over HTTP: the parts of it that relays can share; 1 elsewhere.
  std::uint32_t shards = 1;
  QueueSettings settings;
  std::uint64_t scheduled = 0;
  std::uint64_t ready = 0;
  std::uint64_t leased = 0;
  std::uint64_t dead = 0;
  std::uint64_t remembered = 0;
  std::uint64_t waiting_claims = 0;
  bool paused = false;
  std::optional<Time> paused_until;  ///< empty while paused: until resumed
  std::optional<Time> oldest_ready;  ///< due time of the oldest ready message
  QueueCounters counters;
};

/// Lateness of claims (first attempts) since the store was opened, milliseconds.
struct LatenessStats {
  std::uint64_t count = 0;  ///< claims that these figures are of
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

/// A queue of which nothing can be told now, and why not.
struct UnreadableQueue {
  std::string queue;
  Error error;
};

struct StoreStats {
  std::string engine;       ///< "embedded", "redis", "redis LAYOUT" or "remote"
  std::string served = {};  ///< remote only: the engine of the server's store
  bool durable = true;      ///< false: `memory:`, what it holds ends with its process
  std::vector<QueueStats> queues;
  /// Not among `queues`; empty unless others can be read.
  std::vector<UnreadableQueue> unreadable = {};
  LatenessStats lateness;
  std::uint64_t disk_bytes = 0;   ///< 0 where it does not apply
  std::uint64_t live_bytes = 0;   ///< of these, what is still needed
  std::uint64_t syncs = 0;        ///< times that the journal was synced since the store was opened
  std::uint64_t round_trips = 0;  ///< Redis only: calls that this process has sent; a script is one
  std::uint64_t connections = 0;  ///< Redis only: made by this process for them, again included
};

/// What a pause did.
enum class PauseOutcome : std::uint8_t {
  paused,        ///< no claim gets a message until the time given, or until `resume`
  already_over,  ///< the time given has passed by the store's clock: nothing is paused
};

[[nodiscard]] constexpr std::string_view to_string(PauseOutcome outcome) noexcept {
  return outcome == PauseOutcome::paused ? "paused" : "already_over";
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             PauseOutcome word) {
  return out << to_string(word);
}

/// How far a reshard has come.
struct ReshardStep {
  std::uint64_t turn = 0;      ///< for the next step
  std::uint32_t from = 0;      ///< shards before
  std::uint32_t to = 0;        ///< shards afterwards
  bool done = false;           ///< the queue has its new shards, and no others
  bool changed = false;        ///< false with `done`: it had that many already
  std::uint64_t moved = 0;     ///< messages that are in the new shards; those remembered count too
  std::uint64_t left = 0;      ///< messages that are in the old ones yet
  std::uint64_t leased = 0;    ///< of these: claimed, so that their leases are waited for
  std::string waits_for = {};  ///< an inbox whose next entries must be carried out first, or empty
};

}  // namespace tarry
