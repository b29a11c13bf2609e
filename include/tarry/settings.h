// Queue settings and queue figures. Plain values.
#pragma once

#include <array>
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

/// How many first deliveries of a queue are to be on time: "99% within 1s".
struct Objective {
  std::uint32_t share = 0;  ///< thousandths of a percent, 1'000 .. 99'999; 0: no objective
  Millis within{0};         ///< lateness that still counts as on time, 1 ms .. 7 d

  friend bool operator==(const Objective&, const Objective&) = default;
};

/// How many messages of a queue are claimed at most: "100/1s burst 20". In any stretch of time
/// there are at most `burst` claims, plus `count` for each `per` of it.
struct DeliveryRate {
  std::uint32_t count = 0;  ///< 1 .. 1'000'000 messages; 0: no rate
  Millis per{0};            ///< in this time, 1 ms .. 7 d
  std::uint32_t burst = 0;  ///< 1 .. 1'000'000 messages at once, after a rest

  friend bool operator==(const DeliveryRate&, const DeliveryRate&) = default;
};

/// Which part of a message names its group. The groups of a queue take turns in claims.
struct Grouping {
  enum class By : std::uint8_t {
    none,
    key,     ///< the part of the key between its first `{` and the next `}`
    header,  ///< the header `header`
  };
  By by = By::none;
  std::string header = {};  ///< 1 .. 128 bytes; empty unless it is by header

  friend bool operator==(const Grouping&, const Grouping&) = default;
};

/// In which order the messages of a group are delivered.
enum class GroupOrder : std::uint8_t {
  due,   ///< by priority, then by due time; several may be leased at once
  push,  ///< strictly in the order in which they were accepted, one leased at a time
};

[[nodiscard]] constexpr std::string_view to_string(GroupOrder order) noexcept {
  return order == GroupOrder::due ? "due" : "push";
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             GroupOrder word) {
  return out << to_string(word);
}

/// What becomes of a message that expires.
enum class OnExpiry : std::uint8_t {
  end,   ///< it ends: counted as expired, and remembered for the queue's `remember`
  dead,  ///< it is dead, for the reason "expired"
};

[[nodiscard]] constexpr std::string_view to_string(OnExpiry rule) noexcept {
  return rule == OnExpiry::end ? "end" : "dead";
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, OnExpiry word) {
  return out << to_string(word);
}

struct QueueSettings {
  Millis lease = std::chrono::seconds(30);       ///< 1 ms .. 7 d
  std::uint32_t max_attempts = 10;               ///< 1 .. 65535
  Millis backoff_min = std::chrono::seconds(1);  ///< first retry's delay, 0 .. backoff_max; doubles
  Millis backoff_max = std::chrono::minutes(10);  ///< 0 .. 365 d
  Millis remember{0};  ///< 0 .. 365 d: how long an ended message's key stays known
  Millis dead_keep = std::chrono::hours(24 * 30);  ///< 1 s .. 3650 d
  IfExists if_exists = IfExists::reject;
  Objective objective = {};  ///< none
  Millis expire{0};  ///< 0 .. 100 years; of pushes that name no expiry; 0: these never expire
  OnExpiry on_expiry = OnExpiry::end;
  /// 1 .. 1'000'000 messages leased at once, over all consumers; 0: no limit.
  std::uint32_t max_leased = 0;
  DeliveryRate rate = {};  ///< none
  /// Applies to messages that are pushed from now on.
  Grouping group = {};
  /// 1 .. 1'000'000 messages of a group leased at once; 0: no limit.
  std::uint32_t group_max_leased = 0;
  /// 1 .. 100 events of each message are kept: `Queue::history`; 0: none.
  std::uint32_t history = 0;
  /// May change only while the queue has no message, not even a dead or a remembered one.
  GroupOrder group_order = GroupOrder::due;

  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

/// Changes to a queue's settings. A setting whose member here is empty stays as it is.
struct SettingsPatch {
  std::optional<Millis> lease = {};
  std::optional<std::uint32_t> max_attempts = {};
  std::optional<Millis> backoff_min = {};
  std::optional<Millis> backoff_max = {};
  std::optional<Millis> remember = {};
  std::optional<Millis> dead_keep = {};
  std::optional<IfExists> if_exists = {};
  std::optional<Objective> objective = {};
  std::optional<Millis> expire = {};
  std::optional<OnExpiry> on_expiry = {};
  std::optional<std::uint32_t> max_leased = {};
  std::optional<DeliveryRate> rate = {};
  std::optional<Grouping> group = {};
  std::optional<std::uint32_t> group_max_leased = {};
  std::optional<std::uint32_t> history = {};
  std::optional<GroupOrder> group_order = {};

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
  std::uint64_t expired = 0;  ///< messages that ended at their expiry, or dead after dead_keep
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
  std::uint64_t damaged = 0;  ///< messages made dead at a claim, because their bytes were damaged

  friend bool operator==(const QueueCounters&, const QueueCounters&) = default;
};

/// How a queue keeps its objective, as one server measured it. First attempts that were claimed
/// through this server in the last hour.
struct ObjectiveStats {
  bool burning = false;  ///< too many were late, or a message is overdue now
  bool overdue = false;  ///< the oldest ready message has waited for longer than allowed
  std::uint64_t claims = 0;
  std::uint64_t late = 0;            ///< of these; the sum of the following
  std::uint64_t late_engine = 0;     ///< although claims were waiting
  std::uint64_t late_unclaimed = 0;  ///< no claim was waiting: no consumers, or too few
  std::uint64_t late_paused = 0;
  std::uint64_t late_limited = 0;  ///< a limit of the queue held them: `max_leased`, `rate`, ...

  friend bool operator==(const ObjectiveStats&, const ObjectiveStats&) = default;
};

struct QueueStats {
  std::string queue;
  /// How many shards relays can divide among themselves. It is 1 unless the store is in Redis and
  /// is not reached over HTTP.
  std::uint32_t shards = 1;
  QueueSettings settings;
  std::uint64_t scheduled = 0;
  std::uint64_t ready = 0;
  std::uint64_t leased = 0;
  std::uint64_t dead = 0;
  std::uint64_t remembered = 0;
  std::uint64_t waiting_claims = 0;
  bool paused = false;
  std::optional<Time> paused_until;    ///< empty while paused: until resumed
  std::optional<Time> oldest_ready;    ///< due time of the oldest ready message
  std::optional<Time> rate_next = {};  ///< the queue's `rate` permits no claim before this time
  /// Groups with ready messages. A group counts in each shard in which it has some, and so do the
  /// messages of no group.
  std::uint64_t groups_ready = 0;
  std::uint64_t groups_held = 0;  ///< of these, held by `group_max_leased` or by `group_order`
  QueueCounters counters;
  /// Empty if the queue has no objective, or if it is not measured: only servers measure.
  std::optional<ObjectiveStats> objective = {};
};

/// Lateness of claims (first attempts) since the store was opened, milliseconds.
struct LatenessStats {
  std::uint64_t count = 0;  ///< number of claims in these figures
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

/// How long the steps of an embedded store's commits took since it was opened. A commit makes the
/// records of one or more turns durable and then answers their callers, so a message that waits for
/// its claim waits for each step once.
struct CommitTimes {
  /// The buckets' upper bounds, in seconds.
  static constexpr std::array<double, 15> kBoundsSeconds = {0.00005, 0.0001, 0.00025, 0.0005, 0.001,
                                                            0.0025,  0.005,  0.01,    0.025,  0.05,
                                                            0.1,     0.25,   0.5,     1,      5};

  struct Step {
    /// A bucket counts the commits whose step took longer than the previous bound, and at most its
    /// own. The last bucket counts those above all bounds.
    std::array<std::uint64_t, kBoundsSeconds.size() + 1> counts{};
    double sum_seconds = 0;
  };
  Step gather;  ///< records wait for the commit before them, or for others to join; else uncounted
  Step sync;    ///< records are written, and synced as the store's `sync` says
  Step answer;  ///< from then on until the last caller is answered
};

/// A queue that cannot be read now, and why.
struct UnreadableQueue {
  std::string queue;
  Error error;
};

struct StoreStats {
  std::string engine;       ///< "embedded", "redis", "redis LAYOUT" or "remote"
  std::string served = {};  ///< remote only: the engine of the server's store
  bool durable = true;      ///< false: `memory:`, whose messages end with its process
  std::vector<QueueStats> queues;
  /// These queues are not in `queues`. If no queue at all can be read, `stats` answers an error
  /// instead.
  std::vector<UnreadableQueue> unreadable = {};
  LatenessStats lateness;
  std::uint64_t disk_bytes = 0;  ///< 0 if it does not apply
  std::uint64_t live_bytes = 0;  ///< of these, bytes that are still needed
  std::uint64_t syncs = 0;       ///< syncs of the journal since the store was opened
  /// Embedded only; empty from a server.
  std::optional<CommitTimes> commit_times = {};
  std::uint64_t round_trips = 0;  ///< Redis only: calls sent by this process; a script is one
  std::uint64_t connections = 0;  ///< Redis only: made by this process, reconnects too
};

/// The result of a pause.
enum class PauseOutcome : std::uint8_t {
  paused,        ///< no claim gets a message until the given time, or until `resume`
  already_over,  ///< the given time has passed by the store's clock: nothing is paused
};

[[nodiscard]] constexpr std::string_view to_string(PauseOutcome outcome) noexcept {
  return outcome == PauseOutcome::paused ? "paused" : "already_over";
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             PauseOutcome word) {
  return out << to_string(word);
}

/// The progress of a reshard.
struct ReshardStep {
  std::uint64_t turn = 0;      ///< for the next step
  std::uint32_t from = 0;      ///< shards before
  std::uint32_t to = 0;        ///< shards afterwards
  bool done = false;           ///< the queue has only its new shards
  bool changed = false;        ///< false with `done`: the queue had this number already
  std::uint64_t moved = 0;     ///< messages in the new shards, remembered ones too
  std::uint64_t left = 0;      ///< messages still in the old shards
  std::uint64_t leased = 0;    ///< of these, leased: the reshard waits for them
  std::string waits_for = {};  ///< inbox whose next entries must be carried out first, or empty
};

}  // namespace tarry
