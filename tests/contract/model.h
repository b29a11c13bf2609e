// Model: what a queue with one shard must do, written for reading instead of speed: a std::map, no
// threads, no disk. It is told the time. The engines are held against it, answer by answer.
//
// Messages are named by `uid`, counted up by the model; keys by a KeyId, because what a generated
// key looks like is the engine's business. Claims are numbered in the order they were granted.
//
// Plain value: copied freely, compared never. Not thread safe.
//
// Invariants
//  1. Time has been applied (leases run out, the dead and the remembered expired) up to `realtime`
//     and `boottime` whenever a verb begins.
//  2. A message is waiting (scheduled or ready, by the time alone), leased, dead or remembered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tarry/message.h>
#include <tarry/queue.h>
#include <tarry/settings.h>

namespace tarry::contract {

using KeyId = int;
using Uid = std::uint64_t;

/// Keys from here on were made by the store: kFirstGeneratedKey + n for the n-th.
inline constexpr KeyId kFirstGeneratedKey = 1000;

struct ModelPush {
  std::optional<KeyId> key;  // empty: made by the store
  std::string payload;
  Headers headers;
  Due due;
  std::uint32_t priority = kDefaultPriority;
  std::optional<IfExists> if_exists;
  std::uint32_t max_attempts = 0;
};

struct ModelMessage {
  enum class Stage : std::uint8_t { waiting, leased, dead, remembered };

  Uid uid = 0;
  KeyId key = 0;
  std::string payload;
  Headers headers;
  std::uint32_t priority = kDefaultPriority;
  std::uint32_t max_attempts = 0;  // 0: the queue's
  Stage stage = Stage::waiting;
  std::int64_t due = 0;                  // realtime
  std::optional<std::int64_t> pushed;    // realtime; empty: not known
  std::optional<std::int64_t> boot_due;  // a relative delay needs this boottime too
  std::uint32_t attempt = 0;
  Tallies tallies;
  // leased
  bool stopping = false;
  std::int64_t lease_end = 0;  // boottime
  std::int64_t lease = 0;      // its length
  bool renewed = false;        // another boot began it anew
  std::size_t claim = 0;
  std::optional<std::size_t> claim_before;
  // dead, remembered
  std::int64_t kept_until = 0;        // realtime
  std::optional<std::string> reason;  // dead; empty: the store's own words
  Settlement settlement;
};

struct ModelPushed {
  Outcome outcome = Outcome::pushed;
  Uid uid = 0;  // of the message that is there now
  KeyId key = 0;
  std::int64_t due = 0;
};

struct ModelAnswer {
  Outcome outcome = Outcome::unknown;
  std::optional<std::int64_t> due;
  std::optional<Settlement> settlement;
};

struct ModelStats {
  std::uint64_t scheduled = 0;
  std::uint64_t ready = 0;
  std::uint64_t leased = 0;
  std::uint64_t dead = 0;
  std::uint64_t remembered = 0;
};

class Model {
 public:
  Model(std::int64_t realtime, std::int64_t boottime) : realtime_(realtime), boottime_(boottime) {}

  /// What an engine in Redis does otherwise: one clock for all, which steps; and of equal priority
  /// and due time those go first whose `tie` is less, before push order.
  using Tie = std::function<std::string(const ModelMessage&)>;
  void go_by_one_clock(Tie tie);

  // -- time
  void advance(std::int64_t by);
  void step(std::int64_t by);
  /// Whether what time does to a message is done; an engine may take it in slices.
  using Done = std::function<bool(const ModelMessage&)>;
  void set_time(std::int64_t realtime, std::int64_t boottime, const Done& done = {});
  /// Another boot: its BOOTTIME says nothing of delays before it, and leases begin anew.
  void new_boot(std::int64_t realtime, std::int64_t boottime);
  /// That leases began anew is written down.
  void note_renewed();

  // -- verbs
  ModelPushed push(const ModelPush& message);
  ModelAnswer cancel(KeyId key);
  ModelAnswer reschedule(KeyId key, Due due, std::optional<std::uint32_t> priority);
  /// Of a queue with several shards: a claim takes all that is due, whatever its `max` says, since
  /// which shard it asks first is the engine's choice.
  void claim_all() noexcept { claims_all_ = true; }
  [[nodiscard]] bool claims_all() const noexcept { return claims_all_; }
  /// The messages as they are once claimed, in their order.
  std::vector<ModelMessage> claim(std::uint32_t max, std::optional<std::int64_t> lease);
  /// What an engine chose to hand out: one message, whatever it is but leased or remembered.
  const ModelMessage& take(KeyId key, std::optional<std::int64_t> lease);
  /// The claim was durable at that time, later than it was decided: its lease began then.
  void begin_lease(std::size_t claim, std::int64_t boottime);
  /// The claim is not durable yet: where its lease would have run out, it begins now at the
  /// earliest.
  void hold_lease(std::size_t claim, std::int64_t boottime);
  /// A push that keeps what the message has been through; `dead` with a reason.
  ModelPushed move(const ModelPush& message, std::uint32_t attempt, const Tallies& tallies,
                   const std::optional<std::string>& dead,
                   std::optional<std::int64_t> pushed_ms = {});
  ModelAnswer move_away(std::size_t claim);
  /// Without `delay`, a retry waits the backoff: the model knows that only where it is 0.
  ModelAnswer settle(std::size_t claim, Action action, std::optional<std::int64_t> delay,
                     std::optional<std::uint32_t> priority, const std::string& reason);
  ModelAnswer extend(std::size_t claim, std::optional<std::int64_t> lease);
  std::uint64_t purge();
  std::uint64_t revive(const std::vector<KeyId>& keys);  // none: all
  /// What was pending and dead; nothing where messages are leased and it is not forced. Afterwards
  /// the queue is as one that was just made.
  std::optional<std::uint64_t> remove(bool force);
  void pause(std::optional<std::int64_t> until);
  void resume() { paused_ = false; }
  void configure(const SettingsPatch& patch);

  // -- what a crash has left
  void put_back(const ModelMessage& message) { messages_.insert_or_assign(message.key, message); }
  void take_out(KeyId key) { messages_.erase(key); }
  void put_back(const QueueCounters& counters) { counters_ = counters; }

  // -- questions
  [[nodiscard]] const ModelMessage* find(KeyId key) const;
  [[nodiscard]] const std::map<KeyId, ModelMessage>& messages() const noexcept { return messages_; }
  [[nodiscard]] State state_of(const ModelMessage& message) const noexcept;
  [[nodiscard]] ModelStats stats() const;
  [[nodiscard]] Forecast forecast(const ForecastOptions& options) const;
  [[nodiscard]] const QueueCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] const QueueSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] bool paused() const noexcept;
  /// Milliseconds since 1970; nothing for good, or where it is not paused.
  [[nodiscard]] std::optional<std::int64_t> paused_until() const noexcept {
    return paused() ? paused_until_ : std::nullopt;
  }
  [[nodiscard]] std::size_t claims() const noexcept { return claims_; }
  [[nodiscard]] KeyId generated_keys() const noexcept { return generated_keys_; }
  [[nodiscard]] std::int64_t realtime() const noexcept { return realtime_; }
  [[nodiscard]] std::int64_t boottime() const noexcept { return boottime_; }

 private:
  void apply_time(const Done& done);
  void set_due(ModelMessage& message, Due due) const;
  [[nodiscard]] bool is_due(const ModelMessage& message) const noexcept;
  [[nodiscard]] std::uint32_t max_attempts(const ModelMessage& message) const noexcept;
  ModelMessage* find_claim(std::size_t claim);
  [[nodiscard]] bool was_acked_by(std::size_t claim) const;
  void lease_out(ModelMessage& message, std::optional<std::int64_t> lease);
  ModelPushed put(KeyId key, const ModelPush& message, Outcome outcome);
  void end(ModelMessage& message, Ending ending);
  void die(ModelMessage& message, std::optional<std::string> reason);
  void revive(ModelMessage& message, Due due);

  std::int64_t realtime_;
  std::int64_t boottime_;
  bool one_clock_ = false;
  bool claims_all_ = false;
  Tie tie_;
  std::map<KeyId, ModelMessage> messages_;
  QueueSettings settings_;
  QueueCounters counters_;
  bool paused_ = false;
  std::optional<std::int64_t> paused_until_;
  Uid last_uid_ = 0;
  std::size_t claims_ = 0;
  KeyId generated_keys_ = 0;
};

}  // namespace tarry::contract
