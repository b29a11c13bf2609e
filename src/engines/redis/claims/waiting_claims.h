// WaitingClaims: all claims of a store in Redis, those that are answered at once and those that
// wait. The native engine and the layouts supply `look`.
//
// A claim looks at its queues. A claim that finds nothing and may wait is parked at them. Each
// queue knows when to look again (the next due time or a lease's end, as Redis said), and another
// process's push wakes it before that. Only one of the claims parked at a queue looks at a time. It
// leaves remaining messages to the next claim. But a claim that names keys or shards looks for
// itself; these claims stand in lists of their own.
//
// Invariants
//  1. A claim is looking, or is parked at all its queues, or has been answered. Its completion runs
//     once.
//  2. If a queue is woken while a claim looks, the queue is looked at once more before the claim
//     stays parked, because the wake-up may have overtaken the answer that found nothing. In this
//     case the queue's `woken` is greater than the claim's `looked_from`.
//  3. If a look begins after the queue's last wake-up, no claim in the queue's list need look again
//     for that wake-up. So the look sets the queue's `woken` to 0. This does not apply to claims
//     that look for themselves.
//  4. Messages claimed for a caller that has gone are released, and their attempts are not counted.
//  5. A claim that may wait is in its lists from `begin` until it has been answered and its look
//     has ended. Parked claims that have been answered are removed in slices, so that ten thousand
//     claims that hang up together delay no other request.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/histogram.h"
#include "core/engine.h"
#include "core/engine_parts/waiting_count.h"
#include "core/engine_parts/waiting_lists.h"
#include "engines/redis/node/alarms.h"
#include "engines/redis/verbs/asked.h"

namespace tarry::redis {

class WaitingClaims {
 public:
  /// `slice`: how many places of claims in queues are removed at a time.
  WaitingClaims(Alarms& alarms, const core::Limits& limits, std::size_t slice = kSlice);
  virtual ~WaitingClaims();
  WaitingClaims(const WaitingClaims&) = delete;
  WaitingClaims& operator=(const WaitingClaims&) = delete;

  void begin(core::Ticket ticket, const AskedPtr& asked);
  void withdraw(core::Ticket ticket);

  /// Call `wake` when the queue may have messages to claim.
  void wake(std::string_view queue);
  void wake_all();
  /// Answers all parked claims with `closed`. From now on no claim is parked.
  void close();

  [[nodiscard]] std::uint64_t waiting_at(const std::string& queue) const;
  /// How many queues have a state here.
  [[nodiscard]] std::size_t watched() const;
  /// The queues at which claims are parked.
  [[nodiscard]] std::vector<std::string> waited_queues() const;

  /// The lateness of the first attempts that these claims took, in ms.
  [[nodiscard]] const base::Histogram& lateness() const noexcept { return lateness_; }

  static constexpr std::size_t kSlice = 32'768;

 protected:
  struct AtQueue {
    Alarms::Id alarm = 0;
    std::int64_t alarm_us = 0;
    std::uint64_t woken = 0;    // stamp_ of the last wake-up; 0: a look has begun since
    std::uint32_t waiting = 0;  // claims that were parked and not yet removed
    bool looking = false;       // a claim looks on behalf of all
    bool again = false;         // woken while that claim looks
  };
  struct Claim;
  using ClaimPtr = std::shared_ptr<Claim>;
  using Lists = core::WaitingLists<AtQueue, ClaimPtr>;
  /// The queue for which a claim looks on behalf of all claims there; kNobody: the claim looks for
  /// itself alone.
  using Watch = Lists::QueueNo;
  static constexpr Watch kNobody = Lists::kNone;

  struct Claim {
    core::Ticket ticket = 0;
    AskedPtr asked;
    const core::ClaimRequest* request = nullptr;
    core::ClaimReply reply;
    Alarms::Id wait_end = 0;
    Lists* lists = nullptr;  // null: the claim does not wait
    Lists::ClaimNo no = 0;
    std::uint64_t looked_from = 0;       // stamp_ when it began to look
    std::vector<Lists::QueueNo> missed;  // woken while it looked
    std::optional<Error> cannot_wait;    // why it may not wait
    bool may_wait = false;
    bool waited = false;  // it has been parked
    bool gone = false;    // the caller no longer waits for its answer
  };

  /// Looks at the queues, and calls `looked` or `fail` once, perhaps before it returns.
  virtual void look(const ClaimPtr& claim, std::vector<std::string> queues, Watch watch) = 0;
  /// Releases messages that cannot be handed over.
  virtual void release(const core::ClaimReply& reply) = 0;
  /// The longest time until the next look at a queue where this claim waits, whatever Redis said.
  [[nodiscard]] virtual std::int64_t longest_ms(const core::ClaimRequest& request) const = 0;
  /// The shards of a queue at which the claim may look; null: at all shards.
  [[nodiscard]] static const std::vector<std::uint32_t>* shards_wanted(
      const core::ClaimRequest& request, const std::string& queue);
  /// The request that `release` makes; null if nothing was claimed. If it fails, the leases run out
  /// by themselves.
  [[nodiscard]] static AskedPtr release_of(const core::ClaimReply& reply);

  /// Call `looked` when a look has ended. `again_ms`: in how many ms those queues may have a
  /// message; INT64_MAX: not known. `found`: there may be more messages, for other claims.
  void looked(const ClaimPtr& claim, const std::vector<std::string>& queues, Watch watch,
              std::int64_t again_ms, bool found);
  /// Call `fail` when a look has failed. Other claims that wait at the queue look again in
  /// `again_ms`.
  void fail(const ClaimPtr& claim, Watch watch, Error error, std::int64_t again_ms);

  base::Histogram lateness_;  // `look` adds to it

 private:
  void begin_look(const ClaimPtr& claim, std::vector<std::string> queues, Watch watch);
  void park(const ClaimPtr& claim, const std::vector<std::string>& looked_at,
            std::int64_t again_ms);
  void look_at_missed(const ClaimPtr& claim);
  void watched_look_ended(Watch watch, const core::ClaimRequest& request, std::int64_t again_ms,
                          bool found);
  void wait_has_ended(const ClaimPtr& claim);
  void answer(const ClaimPtr& claim);
  void answer(const ClaimPtr& claim, Error error);
  void end_wait(Claim& claim);
  /// These take the claim out of its lists: `leave` now, the others later, in slices.
  void leave(Claim& claim);
  void leave_later(const ClaimPtr& claim);
  void leave_some();
  void wake(Lists& lists, Lists::QueueNo queue);
  void look_for_all(Lists::QueueNo queue);
  void look_each(Lists::QueueNo queue);
  void look_in(Lists& lists, Lists::QueueNo queue, std::int64_t ms);

  Alarms& alarms_;
  const std::size_t slice_;
  core::WaitingCount count_;
  std::unordered_map<core::Ticket, ClaimPtr> claims_;  // claims that may wait and are not answered
  Lists shared_;                                       // of the claims at a queue one looks, and
                                                       // leaves the rest to the next
  Lists own_;                                          // each claim looks for itself
  std::uint64_t stamp_ = 0;
  std::deque<ClaimPtr> leaving_;
  bool closed_ = false;
};

}  // namespace tarry::redis
