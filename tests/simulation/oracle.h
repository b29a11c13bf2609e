// Oracle: decides which answers of a store are allowed, and which it owes. It watches the shard:
// after each step of a turn it applies the same step to its own model, in which verbs mean what the
// contract says (contract/model.h). Where the engine may choose (which ids, which due messages,
// when in a slice), the oracle takes over the choice and checks it against the rule. It judges
// answers when they arrive. It compares the state after a crash with the truth at the batch that
// survived.
//
// Thread safety: none.
//
// Invariants, as RELIABILITY numbers them: 1 accepted is never lost; 2 never early; 3 nothing
// begins after a cancel; 4 no phantom, payload identical; 5 one live lease, stale receipts refused;
// 6 none after an ack; 7 an unknown outcome never flips once seen; 8 recovery is idempotent, due
// and attempts as they were; 9 what is due is delivered; 10 nothing is acknowledged after a failed
// sync; 11 the state rebuilt from the journal equals the living one; 12 bounded, and ends work on a
// full disk; 13 conservation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "contract/model.h"
#include "support/embedded/one_shard.h"
#include "workload.h"

namespace tarry::simulation {

struct Failure {
  int invariant = 0;
  std::string what;
};

/// How far the shard may differ from the model.
struct Tolerance {
  bool slices = false;     // the effects of time may take several turns
  std::int64_t clock = 0;  // ms by which a relative delay may differ by BOOTTIME
};

class Oracle {
 public:
  using OneShard = embedded::test::OneShard;
  using Model = contract::Model;

  Oracle(const Options& options, const timing::ManualClock& clock);

  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }
  void fail(int invariant, std::string what);

  /// A shard was opened. `state` is the result of recovery, from a journal that ends with
  /// `last_batch`; `least` is the batch that must at least be there.
  void opened(const OneShard& shard, std::uint64_t last_batch, std::uint64_t least, bool new_boot);
  /// Called when OneShard has taken this step.
  void watch(const OneShard& shard, OneShard::Moment moment, const embedded::Part* part);
  void turn_ended(const OneShard& shard);
  /// A request is on its way; the answer goes to `answered`.
  void asked(const embedded::OperationPtr& op);
  void answered(const embedded::Operation* op, const Result<core::Reply>& reply);
  /// From now on, errors are allowed, until the next opening.
  void expect_errors() noexcept { may_fail_ = true; }
  /// From now on, nothing may be acknowledged, until the next opening.
  void expect_no_answers() noexcept { sync_failed_ = true; }
  /// The disk is full, or no longer full. Requests that need space may be refused meanwhile.
  /// Requests that end messages may not be refused, unless the store was opened on a full disk and
  /// could not keep a reserve.
  void disk_full(bool full) noexcept {
    full_ = full;
    was_full_ = was_full_ || full;
  }

  [[nodiscard]] bool is_full() const noexcept { return full_; }

  /// The same after a fault that only pretended that the disk is full.
  void disk_was_full() noexcept { was_full_ = true; }

  /// Whether the disk was full at some time. Then effects of time (a lease that ran out, a message
  /// that expired) may have been put off for lack of space, and no record says so.
  [[nodiscard]] bool was_full() const noexcept { return was_full_; }

  // -- for the code that draws requests
  [[nodiscard]] const std::vector<std::string>& receipts() const noexcept { return receipts_; }
  [[nodiscard]] bool sweeping(const std::string& queue) const { return sweeps_.contains(queue); }
  [[nodiscard]] std::string generated_key(const std::string& queue, std::uint32_t number) const;
  /// Whether a message is still to be delivered, or is being delivered.
  [[nodiscard]] bool pending() const;
  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }
  [[nodiscard]] std::uint64_t deliveries() const noexcept { return deliveries_; }
  /// Compares everything that the model holds with the shard. Returns "" or the first difference.
  [[nodiscard]] std::string difference(const embedded::ShardState& state) const;

 private:
  using KeyId = contract::KeyId;
  using Uid = contract::Uid;
  using Message = contract::ModelMessage;

  struct Queue {
    explicit Queue(timing::Instant now) : model(now.realtime_ms, now.boottime_ms) {}
    Model model;
    std::map<Uid, embedded::Ref> refs;
  };
  struct Truth {
    std::map<std::string, Queue> queues;
    // Queues whose removal is decided; a crash does not change that.
    std::set<std::string> going;
  };
  struct Turn {
    std::uint64_t last_batch = 0;
    // The state after each part of the turn; the last one is that of the whole turn.
    std::vector<Truth> states;
    bool went_on = false;  // the last state is of a later turn, which wrote nothing
  };
  struct Claim {
    std::string queue;
    std::size_t number = 0;  // the claim's number in the model
    Message message;
    std::int64_t decided_boot = 0;
    std::int64_t claimed = 0;
  };
  // The message's id, and the number of its claims.
  using ClaimName = std::pair<std::uint64_t, std::uint32_t>;
  struct Expectation {
    embedded::OperationPtr op;
    bool decided = false;
    std::vector<contract::ModelPushed> pushes;
    std::vector<std::string> keys;  // keys of pushes
    std::vector<std::optional<contract::ModelAnswer>> answers;
    std::vector<ClaimName> claims;
    std::vector<std::pair<std::optional<Message>, std::int64_t>> messages;
    std::map<std::string, std::pair<contract::ModelStats, QueueCounters>> stats;
    QueueSettings settings;
    std::uint64_t count = 0;
    std::uint64_t began_turn = 0;
    bool there = false;  // removals: what their first step saw
    bool leased = false;
  };

  Queue& queue(const std::string& name);
  [[nodiscard]] std::optional<KeyId> key_id(const Queue& queue, const std::string& name,
                                            std::string_view key) const;
  [[nodiscard]] std::string key_text(const std::string& queue, KeyId key) const;

  // oracle_decide.cpp: a part was executed
  void decide(const OneShard& shard, const embedded::Part& part);
  void decide(const core::PushRequest& request, Expectation& expected);
  void decide(const core::MoveRequest& request, Expectation& expected);
  void decide(const core::CancelRequest& request, Expectation& expected);
  void decide(const core::RescheduleRequest& request, Expectation& expected);
  void decide(const core::ClaimRequest& request, Expectation& expected);
  void decide(const core::SettleRequest& request, Expectation& expected);
  void decide(const core::ExtendRequest& request, Expectation& expected);
  void decide(const core::GetRequest& request, Expectation& expected);
  void decide(const core::ListRequest& request, Expectation& expected);
  void decide(const core::StatsRequest& request, Expectation& expected);
  void decide(const core::ForecastRequest& request, Expectation& expected);
  void decide(const core::ConfigureRequest& request, Expectation& expected);
  [[nodiscard]] bool keeps_its_order(const core::ConfigureRequest& request,
                                     const std::optional<Error>& error);
  void decide(const core::PauseRequest& request, Expectation& expected);
  void decide(const core::ResumeRequest& request, Expectation& expected);
  void decide(const core::PurgeRequest& request, Expectation& expected);
  void decide(const core::ReviveRequest& request, Expectation& expected);
  void decide(const core::ReshardRequest& request, Expectation& expected);
  void decide(const core::RemoveRequest& request, Expectation& expected);
  template <typename Request, typename Apply>
  void decide_pushes(const Request& request, Expectation& expected, Apply&& apply);
  void note_push(Queue& queue, const std::string& name, const core::PushResult& result,
                 std::string_view key, bool request_names_it, const contract::ModelPushed& pushed,
                 Expectation& expected);
  void forget(const std::string& queue);
  [[nodiscard]] bool refused(const std::optional<Error>& error, bool ends);
  /// Whether the item was refused because the message would expire before its new due time.
  [[nodiscard]] bool refused_due(const std::optional<Error>& error, const std::string& queue,
                                 std::string_view key, Due due) const;
  void time_passed(const OneShard& shard);
  /// Messages may also expire right before a part is executed.
  void note_expired(const embedded::Part& part);
  [[nodiscard]] bool has_expired(const std::string& name, const Queue& queue,
                                 const Message& message, const embedded::Operation& op) const;
  void waiters_served(const OneShard& shard);
  void swept(const OneShard& shard);
  [[nodiscard]] std::uint64_t swept_away(Queue& queue) const;

  // oracle_claims.cpp
  [[nodiscard]] bool leased_now(const Queue& queue, const Message& message) const;
  [[nodiscard]] bool may_deliver(const Queue& queue, const Message& message) const;
  [[nodiscard]] bool must_deliver(const Message& message) const;
  [[nodiscard]] bool caught_up() const;
  [[nodiscard]] bool is_going(const std::string& queue) const;
  void take(const std::string& name, const Message& message, std::optional<std::int64_t> lease,
            Expectation* expected);
  void check_order(const Queue& queue, const std::vector<Message>& taken, std::uint32_t max);
  void check_turns(const Message& left, const std::vector<Message>& taken);
  [[nodiscard]] static std::size_t count_of(const std::vector<Message>& messages,
                                            const std::string& group);
  [[nodiscard]] static bool group_has_room(const Queue& queue, const Message& message,
                                           const std::vector<Message>& taken);
  void check_claimed(const Expectation* expected, const core::ClaimReply& reply);

  // oracle_answers.cpp
  void check(const Expectation& expected, const core::PushReply& reply);
  void check(const Expectation& expected, const core::ItemsReply& reply);
  void check(const Expectation& expected, const core::ClaimReply& reply);
  void check(const Expectation& expected, const core::GetReply& reply);
  void check(const Expectation& expected, const core::ListReply& reply);
  void check(const Expectation& expected, const StoreStats& reply);
  void check(const Expectation& expected, const core::ForecastReply& reply);
  void check(const Expectation& expected, const core::ConfigureReply& reply);
  void check(const Expectation& expected, const core::CountReply& reply);
  void check_not_removed(const Expectation& expected, const Error& error);
  void check(const Expectation& expected, const ReshardStep& reply);

  // oracle_recovery.cpp
  [[nodiscard]] std::string difference(const embedded::ShardState& state, const Truth& truth) const;
  [[nodiscard]] std::string difference(const embedded::ShardState& state, embedded::Handle handle,
                                       const std::string& name, const Message& message) const;
  [[nodiscard]] bool adopt_mixture(const embedded::ShardState& state, const Truth& before,
                                   const Truth& after);
  [[nodiscard]] Truth with_new_queues(const embedded::ShardState& state, const Truth& before,
                                      const Truth& after) const;
  void adopt(const OneShard& shard, std::uint64_t last_batch);
  void settle_leases(const embedded::ShardState& state);

  void snapshot();

  const Options options_;
  const timing::ManualClock* clock_;
  Tolerance tolerance_;
  std::optional<Failure> failure_;

  Truth truth_;
  std::deque<Turn> turns_;
  Turn turn_;
  std::uint64_t turn_number_ = 0;

  std::map<std::string, std::map<KeyId, std::string>> made_;  // keys that the store made
  std::map<const embedded::Operation*, Expectation> asked_;
  std::map<ClaimName, Claim> granted_;  // leased, but not handed over yet
  std::vector<std::string> receipts_;
  std::map<std::string, Claim, std::less<>> claims_;  // by receipt
  struct Start {
    std::string queue;
    std::size_t claim = 0;
    std::int64_t boot = 0;
  };
  std::vector<Start> starts_;  // leases whose claims became durable after they were decided
  struct Sweep {
    const embedded::Operation* op = nullptr;
    bool purge = true;
    bool active = false;  // the request was decided
    bool removes = false;
  };
  std::map<std::string, Sweep> sweeps_;
  std::set<std::uint64_t> ids_;    // ids that the shard decided to give to pushes
  std::set<std::uint64_t> given_;  // ids that pushes were told

  const embedded::ShardState* state_ = nullptr;  // of the current turn
  timing::Instant now_;                          // of the current turn
  std::int64_t highest_realtime_ = 0;
  bool may_fail_ = false;
  bool sync_failed_ = false;
  bool full_ = false;
  bool opened_full_ = false;
  // The disk was full at some time, so the effects of time may have been put off.
  bool was_full_ = false;
  std::uint64_t answers_ = 0;
  std::uint64_t deliveries_ = 0;
};

}  // namespace tarry::simulation
