// WaitingLists: which claims wait at which queues. Each queue lists its claims in the order in
// which they were parked. A queue's data exists as long as a claim names the queue.
//
// A claim names its queues when it enters. After that it is either parked at all of them, or at
// none (while it looks for messages). At the end it leaves. Each operation takes O(1) per queue of
// the claim. Each queue of a claim takes twelve bytes.
//
// Thread safety: none; an engine's thread owns it.
//
// Invariants
//  1. A claim is in the list of each of its queues while it is parked, and in no list otherwise.
//  2. A queue's list is linked both ways, from `head` to `tail`, and has `parked` claims.
//  3. A queue has a number only while a claim that has entered names it (`entered`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/string_hash.h"
#include "core/limits.h"

namespace tarry::core {

/// `QueueData` and `ClaimData` are types of the engine; both must be default-constructible and
/// movable.
template <typename QueueData, typename ClaimData>
class WaitingLists {
 public:
  using QueueNo = std::uint32_t;
  using ClaimNo = std::uint32_t;
  /// A claim at one of its queues.
  using Place = std::uint32_t;
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  /// The most claims that may have entered and not left.
  static constexpr std::size_t kMostClaims = (std::size_t{1} << 22) - 1;
  static_assert(kMaxWaitingClaims < kMostClaims / 2);

  /// `queues`: 1 to kMaxClaimQueues different names.
  ClaimNo enter(const std::vector<std::string>& queues, ClaimData data) {
    TARRY_ASSERT(!queues.empty() && queues.size() <= kMaxClaimQueues);
    auto links = std::make_unique<Link[]>(queues.size());
    const ClaimNo no = free_claim();
    for (std::size_t i = 0; i < queues.size(); ++i) {
      links[i].queue = number_of(queues[i]);
      ++queues_[links[i].queue].entered;
    }
    Claim& claim = claims_[no];
    claim.data = std::move(data);
    claim.links = std::move(links);
    claim.count = static_cast<std::uint32_t>(queues.size());
    ++size_;
    return no;
  }

  /// `gone(QueueData&)` is called for each queue that no claim names any more.
  template <typename Gone>
  void leave(ClaimNo no, Gone&& gone) {
    if (claims_[no].parked) unpark(no);
    Claim claim = std::exchange(claims_[no], Claim());
    free_claims_.push_back(no);
    --size_;
    for (std::uint32_t i = 0; i < claim.count; ++i) {
      const QueueNo at = claim.links[i].queue;
      if (--queues_[at].entered != 0) continue;
      gone(queues_[at].data);
      numbers_.erase(numbers_.find(*queues_[at].name));
      queues_[at] = Queue();
      free_queues_.push_back(at);
    }
  }
  void leave(ClaimNo no) {
    leave(no, [](QueueData&) {});
  }

  /// Appends the claim to the list of each of its queues.
  void park(ClaimNo no) {
    Claim& claim = claims_[no];
    TARRY_ASSERT(!claim.parked);
    claim.parked = true;
    for (std::uint32_t i = 0; i < claim.count; ++i) {
      Queue& queue = queues_[claim.links[i].queue];
      const Place place = place_of(no, i);
      claim.links[i].prev = queue.tail;
      claim.links[i].next = kNone;
      (queue.tail == kNone ? queue.head : link(queue.tail).next) = place;
      queue.tail = place;
      ++queue.parked;
    }
  }

  void unpark(ClaimNo no) {
    Claim& claim = claims_[no];
    TARRY_ASSERT(claim.parked);
    claim.parked = false;
    for (std::uint32_t i = 0; i < claim.count; ++i) {
      const Link& mine = claim.links[i];
      Queue& queue = queues_[mine.queue];
      (mine.prev == kNone ? queue.head : link(mine.prev).next) = mine.next;
      (mine.next == kNone ? queue.tail : link(mine.next).prev) = mine.prev;
      --queue.parked;
    }
  }

  /// Forgets all claims and queues, without visiting each of them.
  void clear() {
    claims_.clear();
    free_claims_.clear();
    queues_.clear();
    free_queues_.clear();
    numbers_.clear();
    size_ = 0;
  }

  // -- claims
  /// Claims that have entered.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool is_in(ClaimNo no) const noexcept {
    return no < claims_.size() && claims_[no].count != 0;
  }
  [[nodiscard]] bool is_parked(ClaimNo no) const noexcept { return claims_[no].parked; }
  [[nodiscard]] ClaimData& claim(ClaimNo no) noexcept { return claims_[no].data; }
  [[nodiscard]] const ClaimData& claim(ClaimNo no) const noexcept { return claims_[no].data; }
  [[nodiscard]] std::size_t queues_of(ClaimNo no) const noexcept { return claims_[no].count; }
  /// The `i`th queue that the claim named.
  [[nodiscard]] QueueNo queue_of(ClaimNo no, std::size_t i) const noexcept {
    return claims_[no].links[i].queue;
  }
  template <typename F>
  void each_claim(F&& f) {
    for (ClaimNo no = 0; no < claims_.size(); ++no) {
      if (is_in(no)) f(no);
    }
  }

  // -- queues
  [[nodiscard]] std::size_t queues() const noexcept { return numbers_.size(); }
  /// The number of the queue; kNone if no claim names it.
  [[nodiscard]] QueueNo find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? kNone : found->second;
  }
  /// All queues' numbers are below this one.
  [[nodiscard]] QueueNo end_of_queues() const noexcept {
    return static_cast<QueueNo>(queues_.size());
  }
  [[nodiscard]] bool is_queue(QueueNo no) const noexcept {
    return no < queues_.size() && queues_[no].entered != 0;
  }
  [[nodiscard]] const std::string& name(QueueNo no) const noexcept { return *queues_[no].name; }
  [[nodiscard]] QueueData& queue(QueueNo no) noexcept { return queues_[no].data; }
  [[nodiscard]] const QueueData& queue(QueueNo no) const noexcept { return queues_[no].data; }
  [[nodiscard]] std::size_t parked_at(QueueNo no) const noexcept { return queues_[no].parked; }
  /// How many claims name the queue, parked or not.
  [[nodiscard]] std::size_t entered_at(QueueNo no) const noexcept { return queues_[no].entered; }

  // -- a queue's list
  [[nodiscard]] Place first(QueueNo no) const noexcept { return queues_[no].head; }
  [[nodiscard]] Place next(Place place) const noexcept {
    return claims_[claim_at(place)].links[index_at(place)].next;
  }
  [[nodiscard]] static ClaimNo claim_at(Place place) noexcept { return place >> kIndexBits; }
  /// Tells which of the claim's queues this is.
  [[nodiscard]] static std::size_t index_at(Place place) noexcept {
    return place & ((1u << kIndexBits) - 1);
  }

 private:
  static constexpr unsigned kIndexBits = 10;
  static_assert(kMaxClaimQueues <= (1u << kIndexBits));
  static_assert((kMostClaims << kIndexBits) < kNone);

  struct Link {
    Place prev = kNone;
    Place next = kNone;
    QueueNo queue = kNone;
  };
  struct Claim {
    ClaimData data{};
    std::unique_ptr<Link[]> links;
    std::uint32_t count = 0;  // 0: free
    bool parked = false;
  };
  struct Queue {
    QueueData data{};
    const std::string* name = nullptr;  // in numbers_
    Place head = kNone;
    Place tail = kNone;
    std::uint32_t parked = 0;
    std::uint32_t entered = 0;  // 0: free
  };
  [[nodiscard]] static Place place_of(ClaimNo claim, std::uint32_t index) noexcept {
    return (claim << kIndexBits) | index;
  }
  [[nodiscard]] Link& link(Place place) noexcept {
    return claims_[claim_at(place)].links[index_at(place)];
  }

  ClaimNo free_claim() {
    if (!free_claims_.empty()) {
      const ClaimNo no = free_claims_.back();
      free_claims_.pop_back();
      return no;
    }
    TARRY_ASSERT(claims_.size() < kMostClaims);
    claims_.emplace_back();
    return static_cast<ClaimNo>(claims_.size() - 1);
  }

  QueueNo number_of(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, kNone);
    if (!is_new) return at->second;
    if (free_queues_.empty()) {
      at->second = static_cast<QueueNo>(queues_.size());
      queues_.emplace_back();
    } else {
      at->second = free_queues_.back();
      free_queues_.pop_back();
    }
    queues_[at->second].name = &at->first;
    return at->second;
  }

  std::vector<Claim> claims_;
  std::vector<ClaimNo> free_claims_;
  std::size_t size_ = 0;
  std::vector<Queue> queues_;
  std::vector<QueueNo> free_queues_;
  std::unordered_map<std::string, QueueNo, base::StringHash, std::equal_to<>> numbers_;
};

}  // namespace tarry::core
