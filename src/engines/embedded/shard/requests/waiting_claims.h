// WaitingClaims: the claims that wait at one shard: at which queues, until when, and which of these
// queues may have messages for them by now.
//
// A claim that has ended elsewhere (withdrawn, served by another shard) is only noted. Its places
// are removed in slices (`drop_ended`), so that ten thousand claims that hang up together delay no
// other request.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. A claim stands at each of its queues, in the order of `add`, until it is removed. An ended
//     claim stays there for a while; its phase shows that it has ended.
//  2. A woken queue is in `woken_` exactly once, until `next_woken` returns it.
//  3. A queue is held if it has messages that none of its waiting claims may take now. All held
//     queues are in `held_`, which may also name queues that are no longer held.
//  4. Each claim that has not been noted as ended has its deadline in `deadlines_`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/engine_parts/waiting_lists.h"
#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

class WaitingClaims {
 private:
  struct AtQueue {
    bool woken = false;
    bool held = false;
    std::uint32_t by_key = 0;  // claims by key that stand here
  };
  struct Waiting {
    OperationPtr op;
    std::uint64_t number = 0;  // unique; claim numbers of `Lists` are used again
    bool ended = false;        // noted as ended
  };
  using Lists = core::WaitingLists<AtQueue, Waiting>;

 public:
  using QueueNo = Lists::QueueNo;
  using Place = Lists::Place;
  static constexpr std::uint32_t kNone = Lists::kNone;

  /// The claim waits from now on. Its queues are woken, because messages may have come since it
  /// looked.
  void add(const OperationPtr& op);
  /// Call `note_ended` when the claim has ended elsewhere. Unknown claims are ignored.
  void note_ended(const Operation* op);
  /// Removes the noted claims, as far as `budget` reaches; each place of a claim costs one.
  void drop_ended(std::size_t& budget);
  /// Removes all claims, and calls `f(op)` for each that had not been noted as ended.
  template <typename F>
  void clear(F&& f) {
    lists_.each_claim([&](Lists::ClaimNo no) {
      const Waiting& waiting = lists_.claim(no);
      if (!waiting.ended) f(waiting.op);
    });
    clear();
  }

  [[nodiscard]] bool empty() const noexcept { return lists_.empty(); }
  /// How many claims at the queue still have the phase `waiting`.
  [[nodiscard]] std::uint64_t waiting_at(std::string_view queue) const;

  // -- waking
  /// Call `wake` when the queue may have messages for its waiting claims.
  void wake(std::string_view queue) {
    if (!empty()) wake_waiting(queue);
  }
  /// The same, but does nothing if no claim by key waits at any queue.
  void wake_by_key(std::string_view queue) {
    if (by_key_ != 0) wake(queue);
  }
  [[nodiscard]] bool has_woken() const noexcept { return !woken_.empty(); }
  /// Takes out the queue that was woken first; kNone if none is left.
  [[nodiscard]] QueueNo next_woken();
  /// Wakes the queue again, as the first one of the next turn.
  void wake_again_first(QueueNo queue);

  // -- serving a queue: from the first place to the next
  [[nodiscard]] const std::string& name(QueueNo queue) const noexcept { return lists_.name(queue); }
  [[nodiscard]] Place first(QueueNo queue) const noexcept { return lists_.first(queue); }
  [[nodiscard]] Place next(Place place) const noexcept { return lists_.next(place); }
  [[nodiscard]] const OperationPtr& operation(Place place) const noexcept {
    return lists_.claim(Lists::claim_at(place)).op;
  }
  /// Which of the claim's queues this is, in the request's order.
  [[nodiscard]] static std::size_t index(Place place) noexcept { return Lists::index_at(place); }
  [[nodiscard]] bool any_by_key(QueueNo queue) const noexcept {
    return lists_.queue(queue).by_key != 0;
  }
  /// Removes the claim from all its queues. Returns how many there were.
  std::size_t remove(Place place);

  // -- queues with messages that no claim could take: paused, or ahead of the clock
  void hold(QueueNo queue);
  /// `f(name)` decides for each held queue whether it is no longer held, still held, or woken.
  enum class Held : std::uint8_t { no_more, still, woken };
  template <typename F>
  void look_at_held(F&& f) {
    for (const QueueNo queue : std::exchange(held_, {})) {
      if (!lists_.is_queue(queue) || !std::exchange(lists_.queue(queue).held, false)) continue;
      const Held now = f(lists_.name(queue));
      if (now == Held::still) hold(queue);
      if (now == Held::woken) wake_one(queue);
    }
  }
  template <typename F>
  void each_held(F&& f) const {
    for (const QueueNo queue : held_) {
      if (lists_.is_queue(queue) && lists_.queue(queue).held) f(lists_.name(queue));
    }
  }
  /// Looks at up to `count` queues with waiting claims, and wakes those for which `f(name)` is
  /// true. Each call continues after the queues of the last one.
  template <typename F>
  void sweep(std::size_t count, F&& f) {
    const QueueNo end = lists_.end_of_queues();
    for (std::size_t i = 0; i < count && i < end; ++i) {
      swept_ = swept_ + 1 < end ? swept_ + 1 : 0;
      if (lists_.is_queue(swept_) && f(lists_.name(swept_))) wake_one(swept_);
    }
  }

  // -- the end of the wait
  [[nodiscard]] std::optional<std::int64_t> next_deadline() const {
    if (deadlines_.empty()) return std::nullopt;
    return deadlines_.begin()->first;
  }
  /// Takes claims whose wait has ended by `now_boot_ms`, as far as `budget` reaches. Calls `f(op)`
  /// for each, and notes it as ended.
  template <typename F>
  void expire(std::int64_t now_boot_ms, std::size_t& budget, F&& f) {
    while (budget > 0 && !deadlines_.empty() && deadlines_.begin()->first <= now_boot_ms) {
      const Lists::ClaimNo no = deadlines_.begin()->second;
      --budget;
      f(lists_.claim(no).op);
      note_ended(no);
    }
  }
  /// True if claims that have ended still stand at queues.
  [[nodiscard]] bool has_ended() const noexcept { return !ended_.empty(); }

 private:
  void clear();
  void wake_waiting(std::string_view queue);
  void wake_one(QueueNo queue);
  void note_ended(Lists::ClaimNo no);
  void remove_claim(Lists::ClaimNo no);

  Lists lists_;
  std::unordered_map<const Operation*, Lists::ClaimNo> numbers_;  // without claims noted as ended
  std::uint64_t last_number_ = 0;
  std::set<std::pair<std::int64_t, Lists::ClaimNo>> deadlines_;  // BOOTTIME
  std::deque<std::pair<Lists::ClaimNo, std::uint64_t>> ended_;   // with their numbers
  std::deque<QueueNo> woken_;
  std::vector<QueueNo> held_;
  std::size_t by_key_ = 0;
  QueueNo swept_ = 0;
};

}  // namespace tarry::embedded
