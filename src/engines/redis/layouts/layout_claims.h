// Claims on a layout's queues: those that are answered at once, and those that wait.
//
// Nobody says when a foreign producer adds something: a queue at which claims wait is looked at
// when its head falls due, when this process changed it or Redisson's channel says so, and once a
// second. One claim looks for all that wait there; what it leaves over is for the next.
//
// Invariants
//  1. A claim looks, or is parked at all its queues; its completion runs once.
//  2. A queue that is woken while a claim looks is looked at again before that one is parked.
//  3. What was claimed for one that has gone is released.
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
#include "core/engine.h"
#include "engines/redis/alarms.h"
#include "engines/redis/asked.h"
#include "engines/redis/layouts/layout_call.h"
#include "engines/redis/layouts/layout_find.h"
#include "engines/redis/layouts/layout_seen.h"

namespace tarry::redis {

class LayoutClaims {
 public:
  LayoutClaims(const LayoutContext& context, Alarms& alarms);
  ~LayoutClaims();

  void begin(core::Ticket ticket, const AskedPtr& asked);
  void withdraw(core::Ticket ticket);

  /// Something may be there to be claimed.
  void wake(const std::string& queue);
  void wake_all();
  /// Answers all that wait with `closed`.
  void close();

  [[nodiscard]] std::uint64_t waiting_at(const std::string& queue) const;
  /// Of how many queues anything is kept.
  [[nodiscard]] std::size_t watched() const noexcept { return watches_.size(); }
  [[nodiscard]] const base::Histogram& lateness() const noexcept { return lateness_; }

 private:
  struct Claim;
  using ClaimPtr = std::shared_ptr<Claim>;
  struct Watch;
  class Look;

  [[nodiscard]] static bool waits_at(const Claim& claim, const std::string& queue);
  void look_for(const ClaimPtr& claim, std::vector<std::string> queues, Watch* watch);
  /// `again_ms`: when there may be something in those queues. `found`: there may be more.
  void looked(const ClaimPtr& claim, Watch* watch, std::int64_t again_ms, bool found);
  void park(const ClaimPtr& claim, std::int64_t again_ms);
  void unpark(const ClaimPtr& claim);
  void end(const ClaimPtr& claim);
  void fail(const ClaimPtr& claim, Error error);
  void forget(const ClaimPtr& claim);
  void look_at(Watch& watch);
  void look_in(Watch& watch, std::int64_t ms);
  /// Keeps nothing of queues at which nobody waits.
  void forget_unwaited();
  void release(const core::ClaimReply& reply);
  void tell_odd(const LayoutKeys& keys, std::int64_t count, std::string_view first);
  [[nodiscard]] Watch& watch_of(const std::string& queue);

  const LayoutContext& context_;
  Alarms& alarms_;
  std::unordered_map<core::Ticket, ClaimPtr> claims_;
  std::map<std::string, std::unique_ptr<Watch>> watches_;
  std::size_t most_watches_ = 0;  // beyond them those that nobody waits at go
  std::set<ClaimPtr> looking_;
  std::set<std::string> told_bodyless_;  // the log was told of these queues
  std::set<std::string> told_units_;     // likewise
  SeenMemory seen_;
  base::Histogram lateness_;
  std::size_t turn_ = 0;
  bool closed_ = false;
};

}  // namespace tarry::redis
