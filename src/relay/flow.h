// Flow: what a relay does next, as a state machine: it claims, hands on, waits for the sink's
// answers, extends leases meanwhile, settles. It does no I/O and reads no clock: `next` says what
// is to be done now, the other functions tell it what came of it.
//
// Order: messages are handed on in the order in which the store gave them out, which is by priority
// and due time within a shard; one claim is under way at a time, so claims do not overtake each
// other. What is tried again comes later than what was behind it.
//
// Not thread safe.
//
// Invariants
//  1. Every claimed message is in exactly one place: held_ (with the sink), outbox_, or settling_.
//  2. A message is acked only after the sink has answered `confirmed` for this very claim.
//  3. held_.size() + what is being claimed <= in_flight; 1 while the breaker is half-open, and
//     nothing is claimed while it is open. held_bytes_ <= in_flight_bytes, but for the last message
//     claimed, and what is in no held message is not kept in memory for longer than it is.
//  4. What the sink did not take because it is down, or the lease was over, is released: no attempt
//     is counted.
//  5. One request of each kind is under way at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include <tarry/queue.h>
#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "leases/backoff.h"
#include "relay/breaker.h"
#include "relay/coordination/share.h"
#include "relay/lease_end.h"
#include "relay/options.h"
#include "relay/rate_limit.h"
#include "relay/sink.h"

namespace tarry::relay {

class Flow {
 public:
  using JobId = std::uint64_t;

  struct Job {
    JobId id = 0;
    Delivery delivery;
    std::shared_ptr<const LeaseEnd> lease;
  };
  struct HandOn {
    std::vector<Job> jobs;
  };
  struct Withdraw {};     // the claim that waits
  struct CloseSink {};    // its time to drain is over
  struct AbandonSink {};  // and it has not come to an end
  struct Wait {
    std::optional<Moment> until;  // empty: until there is news
  };
  struct Finished {};
  using Step = std::variant<core::ClaimRequest, core::SettleRequest, core::ExtendRequest, HandOn,
                            Withdraw, CloseSink, AbandonSink, Wait, Finished>;

  /// The options have been checked. Serves the queues that they name, from the beginning; where
  /// they name none, those that it is told of.
  Flow(const RelayOptions& options, std::uint32_t seed);

  [[nodiscard]] Step next(Moment now);

  void claimed(Result<std::shared_ptr<const core::ClaimReply>> reply, Moment now);
  /// From now on these, by name, and no others.
  void serve(std::vector<Share> shares);
  void settled(const Result<core::ItemsReply>& reply, Moment now);
  void extended(const Result<core::ItemsReply>& reply, Moment now);
  void answered(JobId id, Answer answer, Moment now);
  void stop(Moment now);
  /// After a stop: what the store does not take at once is given up; the leases run out.
  void abandon() noexcept { abandoned_ = true; }

  /// Why it ended by itself; empty where it was stopped.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  [[nodiscard]] RelayStats stats() const;
  struct Mishaps {
    std::uint64_t count = 0;
    std::string reason;  // the last one's
  };
  [[nodiscard]] const Mishaps& mishaps(Mishap mishap) const noexcept {
    return mishaps_[static_cast<std::size_t>(mishap)];
  }
  [[nodiscard]] BreakerState breaker() const noexcept { return breaker_.state(); }
  /// Why the store could not be asked the last time; empty where it has answered since.
  [[nodiscard]] const std::optional<Error>& outage() const noexcept { return outage_; }

 private:
  struct Held {
    Delivery delivery;
    Moment claimed_at{0};
    Moment lease_end{0};
    Moment extend_at{0};
    std::shared_ptr<LeaseEnd> lease = {};  // tells the sink of lease_end
    bool extendable = true;
    bool lost = false;  // the lease has run out, says the store
  };
  struct Ending {
    std::string receipt;
    core::SettleAction action = core::SettleAction::ack;
    std::optional<Millis> delay;  // of a retry; empty: the queue's backoff
    std::string reason;           // the sink's; of a retry or bury
    Moment lease_end{0};
    bool tried = false;
  };

  [[nodiscard]] std::optional<Step> stop_step(Moment now);
  [[nodiscard]] std::optional<Step> settle(Moment now);
  [[nodiscard]] std::optional<Step> extend(Moment now);
  [[nodiscard]] std::optional<Step> claim(Moment now);
  void choose_queues(core::ClaimRequest& request);
  [[nodiscard]] Wait wait() const;
  [[nodiscard]] std::uint32_t room() const noexcept;
  [[nodiscard]] std::uint64_t room_bytes() const noexcept;
  [[nodiscard]] bool wants_claim() const noexcept;
  [[nodiscard]] bool is_idle() const noexcept;
  void count(Mishap mishap, const std::string& reason);
  void end(Held held, core::SettleAction action, Answer answer);
  void settle_item(Ending ending, const core::ItemResult& answer, Moment now);
  static void hold_until(Held& held, Moment end) noexcept;
  void extend_item(Held& held, Moment now, const core::ItemResult& answer);
  [[nodiscard]] bool may_try_again(const Error& error, Moment now);
  void fail(std::optional<Error> error, Moment now);

  const RelayOptions options_;
  Breaker breaker_;
  RateLimit rate_;
  RelayStats stats_;
  std::array<Mishaps, kMishaps.size()> mishaps_;

  JobId next_job_ = 1;
  std::unordered_map<JobId, Held> held_;
  std::uint64_t held_bytes_ = 0;  // their payloads
  HandOn to_hand_on_;
  std::deque<Ending> outbox_;
  std::vector<Ending> settling_;
  std::vector<JobId> extending_;
  Moment extend_sent_{0};
  std::optional<Moment> extend_at_;  // no held message's is earlier; empty: none needs it

  std::vector<Share> shares_;
  std::size_t first_share_ = 0;  // of the next claim

  std::uint32_t claiming_ = 0;  // how many were asked for; 0: no claim is under way
  bool withdrawn_ = false;
  bool outdated_ = false;  // it waits on other queues than are served now
  Moment claim_at_{0};
  leases::Backoff claim_backoff_;
  Moment settle_at_{0};
  leases::Backoff settle_backoff_;

  std::optional<Moment> stopped_at_;
  bool sink_closed_ = false;
  bool sink_abandoned_ = false;
  bool abandoned_ = false;
  std::optional<Error> error_;
  std::optional<Error> outage_;
};

}  // namespace tarry::relay
