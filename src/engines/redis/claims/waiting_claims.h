// WaitingClaims: all claims of a store in Redis, those that are answered at once and those that
// wait. The native engine and the layouts supply how a claim looks.
//
// A claim looks at its queues. A claim that finds nothing and may wait is parked at them. Each
// queue knows when to look again (the next due time or a lease's end, as Redis said), and another
// process's push wakes it before that. Of the claims parked at a queue one looks at a time; it
// leaves the remaining messages for the next. Claims that name keys or shards look each for itself,
// and stand in lists of their own.
//
// Invariants
//  1. A claim looks, is parked at all its queues, or has been answered; its completion runs once.
//  2. A queue that is woken while a claim looks is looked at once more before that claim is parked
//     for good: a wake-up may overtake the answer that found nothing. The queue's `woken` is later
//     than the claim's `looked_from` then.
//  3. A look at a queue that begins after the wake-up serves all claims in its list: `woken` is 0
//     again. This does not apply where each claim looks for itself.
//  4. Messages claimed for a caller that has gone are released, the attempt not counted.
//  5. A claim that may wait is in its lists from `begin` until it has been answered and its look
//     has ended. Parked claims that have been answered are removed in slices, so that ten thousand
//     that hang up together delay no other request.
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
#include "core/waiting_count.h"
#include "core/waiting_lists.h"
#include "engines/redis/node/alarms.h"
#include "engines/redis/verbs/asked.h"

namespace tarry::redis {

class WaitingClaims {
 public:
  /// `slice`: from how many queues claims are removed at a time.
  WaitingClaims(Alarms& alarms, const core::Limits& limits, std::size_t slice = kSlice);
  virtual ~WaitingClaims();
  WaitingClaims(const WaitingClaims&) = delete;
  WaitingClaims& operator=(const WaitingClaims&) = delete;

  void begin(core::Ticket ticket, const AskedPtr& asked);
  void withdraw(core::Ticket ticket);

  /// Something may be there to be claimed.
  void wake(std::string_view queue);
  void wake_all();
  /// Answers all parked claims with `closed`, and parks none any more.
  void close();

  [[nodiscard]] std::uint64_t waiting_at(const std::string& queue) const;
  /// How many queues have a state here.
  [[nodiscard]] std::size_t watched() const;
  /// The queues at which claims are parked.
  [[nodiscard]] std::vector<std::string> waited_queues() const;

  /// For first attempts that these claims took, in ms.
  [[nodiscard]] const base::Histogram& lateness() const noexcept { return lateness_; }

  static constexpr std::size_t kSlice = 32'768;

 protected:
  struct AtQueue {
    Alarms::Id alarm = 0;
    std::int64_t alarm_us = 0;
    std::uint64_t woken = 0;    // its stamp_; 0: a claim has looked since
    std::uint32_t waiting = 0;  // claims that were parked and not yet removed
    bool looking = false;       // one looks for all
    bool again = false;         // woken meanwhile
  };
  struct Claim;
  using ClaimPtr = std::shared_ptr<Claim>;
  using Lists = core::WaitingLists<AtQueue, ClaimPtr>;
  /// The queue for which a claim looks on behalf of all its waiting claims; kNobody: for itself.
  using Watch = Lists::QueueNo;
  static constexpr Watch kNobody = Lists::kNone;

  struct Claim {
    core::Ticket ticket = 0;
    AskedPtr asked;
    const core::ClaimRequest* request = nullptr;
    core::ClaimReply reply;
    Alarms::Id wait_end = 0;
    Lists* lists = nullptr;  // null: it does not wait
    Lists::ClaimNo no = 0;
    std::uint64_t looked_from = 0;       // stamp_ when it began to look
    std::vector<Lists::QueueNo> missed;  // woken while it looked
    std::optional<Error> cannot_wait;    // why it may not wait
    bool may_wait = false;
    bool waited = false;  // it has been parked
    bool gone = false;    // the caller no longer waits for its answer
  };

  /// Looks at the queues, and calls `looked` or `fail` once, perhaps within the call.
  virtual void look(const ClaimPtr& claim, std::vector<std::string> queues, Watch watch) = 0;
  /// Gives back messages that cannot be handed over.
  virtual void release(const core::ClaimReply& reply) = 0;
  /// The longest time until the next look at a queue where this claim waits, whatever Redis said.
  [[nodiscard]] virtual std::int64_t longest_ms(const core::ClaimRequest& request) const = 0;
  /// The shards of a queue at which the claim may look; null: at all.
  [[nodiscard]] static const std::vector<std::uint32_t>* shards_wanted(
      const core::ClaimRequest& request, const std::string& queue);
  /// The request that `release` makes; null if nothing was claimed. If it fails, the leases run out
  /// by themselves.
  [[nodiscard]] static AskedPtr release_of(const core::ClaimReply& reply);

  /// `again_ms`: when those queues may have a message; INT64_MAX: not known. `found`: there may be
  /// more for the others.
  void looked(const ClaimPtr& claim, const std::vector<std::string>& queues, Watch watch,
              std::int64_t again_ms, bool found);
  /// Other claims that wait there look again in `again_ms`.
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
  /// Out of its lists: now, or in a slice to come.
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
  std::unordered_map<core::Ticket, ClaimPtr> claims_;  // that may wait and are not answered
  Lists shared_;                                       // one claim leaves the rest to the next
  Lists own_;                                          // each looks for itself
  std::uint64_t stamp_ = 0;
  std::deque<ClaimPtr> leaving_;
  bool closed_ = false;
};

}  // namespace tarry::redis
