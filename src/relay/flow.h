// Flow: a relay's next steps, as a state machine: it claims, hands messages to the sink, waits for
// the sink's answers, and settles. Meanwhile its book extends the leases. The flow does no I/O and
// reads no clock: `next` says what to do now, and the other functions report the results.
//
// Order: messages go to the sink in the order in which the store gave them out, which is by
// priority and due time within a shard. One claim is outstanding at a time, so claims do not
// overtake each other. A message that is tried again comes after later ones. Its delay is the
// sink's Retry-After or, without that, the queue's backoff (core/settings/retry_policy.h).
//
// Not thread safe.
//
// Invariants
//  1. held_ has the same claims as the book: the messages that the sink has, or gets next.
//  2. A message is acked only after the sink has answered `confirmed` for this same claim.
//  3. held_.size() + messages being claimed <= in_flight, or <= 1 while the breaker is half-open;
//     nothing is claimed while it is open. held_bytes_ <= in_flight_bytes, except that one message
//     may go beyond it. Memory of a claim is not kept longer than that claim's held messages.
//  4. If the sink did not take a message because the sink is down, or because the lease was over,
//     the message is released, and no attempt is counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
#include "leases/book.h"
#include "relay/breaker.h"
#include "relay/coordination/share.h"
#include "relay/lease_end.h"
#include "relay/options.h"
#include "relay/rate_limit.h"
#include "relay/sink.h"

namespace tarry::relay {

class Flow {
 public:
  using JobId = leases::Book::Id;

  struct Job {
    JobId id = 0;
    Delivery delivery;
    std::shared_ptr<const LeaseEnd> lease;
  };
  struct HandOn {
    std::vector<Job> jobs;
  };
  struct Withdraw {};     // the waiting claim
  struct CloseSink {};    // the time for draining is over
  struct AbandonSink {};  // closing the sink did not end it
  struct Wait {
    std::optional<Moment> until;  // empty: until something is reported
  };
  struct Finished {};
  using Step = std::variant<core::ClaimRequest, core::SettleRequest, core::ExtendRequest, HandOn,
                            Withdraw, CloseSink, AbandonSink, Wait, Finished>;

  /// The options have been checked. If they name queues, these are served from the beginning;
  /// otherwise only those that `serve` names.
  /// `joins`: see leases::BookOptions.
  Flow(const RelayOptions& options, std::uint32_t seed, bool joins = false);

  [[nodiscard]] Step next(Moment now);

  void claimed(Result<std::shared_ptr<const core::ClaimReply>> reply, Moment now);
  /// From now on the flow claims only from these queues (sorted by name).
  void serve(std::vector<Share> shares);
  void settled(const Result<core::ItemsReply>& reply, Moment now);
  void extended(const Result<core::ItemsReply>& reply, Moment now);
  void answered(JobId id, Answer answer, Moment now);
  void stop(Moment now);
  /// Call `abandon` after a stop: a request that the store does not accept at once is given up, and
  /// its leases run out.
  void abandon() noexcept { book_.abandon(); }

  /// Why the flow ended by itself; empty if it was stopped.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return book_.error(); }
  [[nodiscard]] RelayStats stats() const;
  struct Mishaps {
    std::uint64_t count = 0;
    std::string reason;  // the reason of the last one
  };
  [[nodiscard]] const Mishaps& mishaps(Mishap mishap) const noexcept {
    return mishaps_[static_cast<std::size_t>(mishap)];
  }
  [[nodiscard]] BreakerState breaker() const noexcept { return breaker_.state(); }
  /// Why the store cannot be used now; empty if it answers.
  [[nodiscard]] std::optional<Error> outage() const { return book_.outage(); }

 private:
  struct Held {
    Delivery delivery;
    Moment claimed_at{0};
    std::shared_ptr<LeaseEnd> lease;  // lets the sink see the lease
  };

  [[nodiscard]] std::optional<Step> stop_step(Moment now);
  [[nodiscard]] std::optional<Step> claim(Moment now);
  void choose_queues(core::ClaimRequest& request);
  [[nodiscard]] Wait wait() const;
  [[nodiscard]] std::uint32_t room() const noexcept;
  [[nodiscard]] std::uint64_t room_bytes() const noexcept;
  [[nodiscard]] bool wants_claim() const noexcept;
  void take(Delivery delivery, Moment begun, Moment now);
  void count(Mishap mishap, const std::string& reason);
  void note_refusal();
  void end(JobId id, const Delivery& delivery, core::SettleAction action, Answer answer,
           Moment now);

  const RelayOptions options_;
  Breaker breaker_;
  RateLimit rate_;
  RelayStats stats_;
  std::array<Mishaps, kMishaps.size()> mishaps_;

  leases::Book book_;
  std::unordered_map<JobId, Held> held_;
  std::uint64_t held_bytes_ = 0;  // payload bytes of held_
  HandOn to_hand_on_;

  std::vector<Share> shares_;
  std::size_t first_share_ = 0;  // where the next claim begins
  bool outdated_ = false;        // whether the outstanding claim waits for queues that
                                 // are not those served now

  bool sink_closed_ = false;
  bool sink_abandoned_ = false;
};

}  // namespace tarry::relay
