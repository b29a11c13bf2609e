// Claims: those that are answered at once, and those that wait.
//
// A claim asks the shards of its queues one after the other until it has what it wants. One that
// finds nothing, and may wait, is parked at its queues; each queue knows when to look again (the
// next due time, a lease's end, as the shards told), and is woken before that by what others push.
// Of those parked at a queue one looks at a time; what it leaves over is for the next. Those that
// name keys or shards look each for itself.
//
// Invariants
//  1. A claim is in at most one visit, and parked otherwise; its completion runs once.
//  2. A queue that is woken while a claim looks is looked at once more before that claim is parked
//     for good: a wake-up may overtake the answer that found nothing.
//  3. Where all claims that wait at a queue are visiting others, its wake-up or alarm is noted in
//     their `missed`, and they visit it when they are back. A visit to it that begins meanwhile
//     clears the note for all.
//  4. What was claimed for one that has gone is released, the attempt not counted.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/histogram.h"
#include "engines/redis/alarms.h"
#include "engines/redis/asked.h"
#include "engines/redis/item_verb.h"

namespace tarry::redis {

class Claims {
 public:
  Claims(Context& context, Alarms& alarms);
  ~Claims();

  void begin(core::Ticket ticket, const AskedPtr& asked);
  void withdraw(core::Ticket ticket);

  /// Something may be there to be claimed.
  void wake(std::string_view queue);
  void wake_all();
  /// Answers all that wait with `closed`.
  void close();

  [[nodiscard]] std::uint64_t waiting_at(const std::string& queue) const;
  /// Nothing is kept of queues at which no claim waits any more.
  void forget_unwaited();
  /// Of how many queues something is kept.
  [[nodiscard]] std::size_t watched() const noexcept { return watches_.size(); }
  /// The queues at which claims wait.
  [[nodiscard]] std::vector<std::string> waited_queues() const;
  [[nodiscard]] const base::Histogram& lateness() const noexcept { return lateness_; }

 private:
  struct Claim;
  using ClaimPtr = std::shared_ptr<Claim>;
  struct Watch;
  class Visit;

  void visit(const ClaimPtr& claim, std::vector<std::string> queues, Watch* watch);
  void visited(const ClaimPtr& claim, const std::vector<std::string>& queues, Watch* watch,
               std::int64_t again_ms, bool found);
  /// Those of its queues are looked at again after so long.
  void park(const ClaimPtr& claim, const std::vector<std::string>& looked_at,
            std::int64_t again_ms);
  void unpark(const ClaimPtr& claim);
  void end(const ClaimPtr& claim);
  void fail(const ClaimPtr& claim, Error error);
  void look(Watch& watch);
  void look_in(Watch& watch, std::int64_t ms);
  void release(const core::ClaimReply& reply);
  [[nodiscard]] static bool waits_at(const Claim& claim, const std::string& queue);
  [[nodiscard]] Watch& watch_of(const std::string& queue);

  Context& context_;
  Alarms& alarms_;
  std::unordered_map<core::Ticket, ClaimPtr> claims_;
  std::map<std::string, std::unique_ptr<Watch>> watches_;
  std::set<ClaimPtr> looking_;  // of those that may wait
  base::Histogram lateness_;
  std::size_t turn_ = 0;
  bool closed_ = false;
};

}  // namespace tarry::redis
