// Wheel: a hierarchical timing wheel, with eight levels of 64 slots, ticks of 1 ms, and a bitmap
// for each level. A slot consists of doubly linked lists. The nodes are in the caller's slab, and
// are named by 32-bit handles. insert and remove take O(1). A node is touched at most once per
// level until it expires. A period in which nothing is due costs nothing, however long it is.
//
// The caller tells the wheel the time (advance_to). The wheel's time goes backwards only by
// rebase(), after a clock went back. It takes 33 KiB, allocates nothing, and holds only handles.
//
// Thread safety: none; one thread owns the wheel and its nodes.
//
// Which slot. Write the deadline d (> now) and now itself in base 64. The level is the highest
// digit in which they differ; the slot is d's digit there. All higher digits are equal, from which
// (2) and (3) below follow. So the first slot that is not empty, lowest level first, is the
// earliest. There are two special slots besides the levels. `expired` has nodes that are due and
// not given out yet. `cascade` has nodes that must be placed again: those of a slot whose time span
// has begun or, after rebase, all nodes.
//
// Which lane. A slot has eight lists, its lanes; a hash of the deadline selects the lane. A cascade
// takes a node from each lane in turn, and prefetches the lane's next node one round ahead. Nodes
// are spread over memory, so with a single list each node would be a cache miss. (A rebase still
// uses one list, because only a single list keeps the order.)
//
// Invariants
//  1. Each inserted node is in exactly one list. Lists are circular through a sentinel, whose
//     handle is the list's number with the top bit set. So the neighbour of a first or last node
//     says which list it is, and unlinking needs neither the deadline nor a search.
//  2. For a node in slot s of level k, digit k of its deadline is s, which is greater than now's
//     digit k; all higher digits equal those of now. (A deadline of kHorizon or more counts as
//     kHorizon.)
//  3. A lane's bit in its slot's mask is set if and only if the lane is not empty. A slot's bit in
//     its level's bitmap is set if and only if one of its lanes is not empty. So all set bits of
//     level k lie above now's digit k.
//  4. `expired` holds only nodes with deadline <= now, all in its first lane. Besides it, only
//     `cascade` may hold nodes with such deadlines. Nodes with equal deadlines in the same slot are
//     in the same lane.
//  5. While cascade_span_ is not 0, a node that is inserted with deadline <= now or (deadline ^
//     now) < cascade_span_ is appended to its lane of the cascade. So nodes with equal deadlines
//     come out in the order of their insertion, even when a cascade is done in slices.
//     cascade_span_ is 0 only if `cascade` is empty. After rebase all nodes of `cascade` are in its
//     first lane.
//  6. 0 <= now < kHorizon. size() nodes are linked. Both links of a node that has left the wheel
//     are kNone.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/assert.h"
#include "base/hash.h"

namespace tarry::timing {

/// The operations that the wheel needs from the slab. While a node is in the wheel, its links
/// belong to the wheel, and its deadline (ms) must not change.
template <typename T>
concept WheelNodes = requires(T nodes, const T& const_nodes, std::uint32_t handle) {
  { nodes.next(handle) } -> std::same_as<std::uint32_t&>;
  { nodes.prev(handle) } -> std::same_as<std::uint32_t&>;
  { const_nodes.deadline(handle) } -> std::convertible_to<std::int64_t>;
  // Prefetches the data of a node that will be used soon.
  { const_nodes.prefetch(handle) };
};

/// `Nodes` is a reference type, or a small object (such as a pointer to the slab) that is kept by
/// value.
template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
class Wheel {
 public:
  using Handle = std::uint32_t;

  /// The handle of no node. Nodes have handles up to kMaxHandle; other handles with the top bit set
  /// name sentinels.
  static constexpr Handle kNone = 0xFFFF'FFFF;
  static constexpr Handle kMaxHandle = 0x7FFF'FFFF;

  static constexpr int kLevels = 8;
  /// The wheel's time ends before this millisecond (in the year 10889 counted from 1970). Nodes
  /// with this deadline or a later one are kept, and never expire.
  static constexpr std::int64_t kHorizon = (std::int64_t{1} << (6 * kLevels)) - 1;

  /// now_ms >= 0.
  explicit Wheel(Nodes nodes, std::int64_t now_ms);
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  /// Adds a node that is not in the wheel. A node that is due already is given out by the next
  /// advance_to or, if called from on_expired, by the one in progress.
  void insert(Handle handle);
  /// Removes a node that is in the wheel. Aborts if its links say that it is not.
  void remove(Handle handle);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The time that the wheel has reached. It is earlier than that of the last advance_to if that
  /// call stopped at its limit.
  [[nodiscard]] std::int64_t now() const noexcept { return now_; }

  /// When to call advance_to next; none if the wheel is empty; now() if there is work left over.
  /// Otherwise it is later than now(). It is exact if the next node is due within the current 64
  /// ms. If not, it is a lower bound, the start of the first slot in use, and so never later than
  /// the next node's deadline. A caller that wakes at this time wakes too early at most seven times
  /// (once per level) for a given node.
  [[nodiscard]] std::optional<std::int64_t> next_due() const noexcept;

  /// Moves the time forward to now_ms, and calls on_expired(handle) for every node with deadline <=
  /// now_ms. The order is by deadline, and for equal deadlines by insertion. A node that was due
  /// when it was inserted counts as due at its insertion. The node is unlinked before the call.
  /// on_expired may insert and remove; now() is then the node's tick.
  ///
  /// It stops after `limit` units of work, and the next call continues from there. (To give out a
  /// node, or to place it again, is one unit.) There is work left if next_due() <= now_ms. If
  /// now_ms is before now(), it does nothing. Returns how many nodes were given out.
  template <typename F>
  std::size_t advance_to(std::int64_t now_ms, F&& on_expired,
                         std::size_t limit = std::numeric_limits<std::size_t>::max());

  /// The clock has stepped back to now_ms (>= 0), so nodes that are due later must wait again. It
  /// takes O(1). The following advance_to calls place every node again, within their limits, and
  /// give out nothing before that is done. If now_ms is not before now(), it does nothing.
  void rebase(std::int64_t now_ms);

  /// Aborts on a broken invariant. For tests; takes O(size).
  void check() const;

 private:
  static constexpr int kBits = 6;
  static constexpr std::uint32_t kSlots = 1U << kBits;
  static constexpr Handle kTag = 0x8000'0000;
  static constexpr int kLaneBits = 3;
  static constexpr std::uint32_t kLanes = 1U << kLaneBits;
  // Slots have the numbers level * 64 + slot; the special slots come after them. These have a
  // bitmap word of their own, so that linking treats all slots alike. Lists have the numbers slot *
  // 8 + lane.
  static constexpr std::uint32_t kExpiredSlot = kLevels * kSlots;
  static constexpr std::uint32_t kCascadeSlot = kExpiredSlot + 1;
  static constexpr std::uint32_t kAllSlots = kCascadeSlot + 1;
  static constexpr std::uint32_t kExpired = kExpiredSlot * kLanes;
  static constexpr std::uint32_t kCascade = kCascadeSlot * kLanes;
  static constexpr std::uint32_t kLists = kAllSlots * kLanes;
  static constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

  struct Sentinel {
    Handle next;  // first node
    Handle prev;  // last node
  };

  static constexpr Handle sentinel(std::uint32_t list) noexcept { return kTag | list; }
  static constexpr bool is_sentinel(Handle handle) noexcept { return (handle & kTag) != 0; }

  Handle& next_of(Handle handle) noexcept {
    return is_sentinel(handle) ? sentinels_[handle & ~kTag].next : nodes_.next(handle);
  }
  Handle& prev_of(Handle handle) noexcept {
    return is_sentinel(handle) ? sentinels_[handle & ~kTag].prev : nodes_.prev(handle);
  }

  bool is_empty(std::uint32_t slot) const noexcept { return used_lanes_[slot] == 0; }
  void mark_used(std::uint32_t list) noexcept {
    const std::uint32_t slot = list / kLanes;
    used_lanes_[slot] = static_cast<std::uint8_t>(used_lanes_[slot] | 1U << (list % kLanes));
    occupied_[slot / kSlots] |= std::uint64_t{1} << (slot % kSlots);
  }
  void mark_empty(std::uint32_t list) noexcept {
    const std::uint32_t slot = list / kLanes;
    used_lanes_[slot] = static_cast<std::uint8_t>(used_lanes_[slot] & ~(1U << (list % kLanes)));
    if (is_empty(slot)) occupied_[slot / kSlots] &= ~(std::uint64_t{1} << (slot % kSlots));
  }

  /// Visits those slots that are in use when it begins.
  template <typename F>
  void for_each_lane(std::uint32_t slot, F&& body) {
    for (unsigned lanes = used_lanes_[slot]; lanes != 0; lanes &= lanes - 1) {
      body(static_cast<std::uint32_t>(std::countr_zero(lanes)));
    }
  }

  std::uint64_t differing_bits(std::int64_t deadline) const noexcept;
  static std::uint32_t lane_for(std::int64_t deadline) noexcept;
  std::uint32_t list_for(std::int64_t deadline) const noexcept;
  std::uint32_t list_for_insert(std::int64_t deadline) const noexcept;
  void push_back(std::uint32_t list, Handle handle) noexcept;
  Handle pop_front(std::uint32_t list) noexcept;
  /// Appends list `from`, which must not be empty, to list `to`.
  void append_all(std::uint32_t from, std::uint32_t to) noexcept;
  void gather_lanes(std::uint32_t slot, std::uint32_t list) noexcept;
  std::size_t place_anew(std::size_t limit) noexcept;
  std::int64_t slot_start(int level, int slot) const noexcept;
  int first_level() const noexcept;

  Nodes nodes_;
  std::int64_t now_;
  std::uint64_t cascade_span_ = 0;
  std::size_t size_ = 0;
  bool advancing_ = false;
  std::array<std::uint64_t, kLevels + 1> occupied_{};
  std::array<std::uint8_t, kAllSlots> used_lanes_{};
  std::array<Sentinel, kLists> sentinels_;
};

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
Wheel<Nodes>::Wheel(Nodes nodes, std::int64_t now_ms)
    : nodes_(static_cast<Nodes&&>(nodes)), now_(std::min(now_ms, kHorizon - 1)) {
  TARRY_ASSERT(now_ms >= 0);
  for (std::uint32_t list = 0; list < kLists; ++list) {
    sentinels_[list] = {sentinel(list), sentinel(list)};
  }
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline std::uint64_t Wheel<Nodes>::differing_bits(std::int64_t deadline) const noexcept {
  const std::int64_t counted = std::min(deadline, kHorizon);
  return static_cast<std::uint64_t>(counted) ^ static_cast<std::uint64_t>(now_);
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline std::uint32_t Wheel<Nodes>::lane_for(std::int64_t deadline) noexcept {
  return base::spread(static_cast<std::uint64_t>(deadline), kLaneBits);
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline std::uint32_t Wheel<Nodes>::list_for(std::int64_t deadline) const noexcept {
  if (deadline <= now_) return kExpired;
  const std::uint64_t differs = differing_bits(deadline);
  const auto level = static_cast<std::uint32_t>(std::bit_width(differs) - 1) / kBits;
  const std::uint64_t counted = differs ^ static_cast<std::uint64_t>(now_);
  const auto slot = static_cast<std::uint32_t>(counted >> (level * kBits)) % kSlots;
  return (level * kSlots + slot) * kLanes + lane_for(deadline);
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline std::uint32_t Wheel<Nodes>::list_for_insert(std::int64_t deadline) const noexcept {
  if (cascade_span_ != 0) [[unlikely]] {
    if (deadline <= now_ || differing_bits(deadline) < cascade_span_) {
      // A node that is due already is placed as if it were due now.
      return kCascade + (cascade_span_ == kEverything ? 0 : lane_for(std::max(deadline, now_)));
    }
  }
  return list_for(deadline);
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline void Wheel<Nodes>::push_back(std::uint32_t list, Handle handle) noexcept {
  const Handle last = sentinels_[list].prev;
  nodes_.next(handle) = sentinel(list);
  nodes_.prev(handle) = last;
  sentinels_[list].prev = handle;
  next_of(last) = handle;
  mark_used(list);
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline auto Wheel<Nodes>::pop_front(std::uint32_t list) noexcept -> Handle {
  const Handle handle = sentinels_[list].next;
  const Handle next = nodes_.next(handle);
  sentinels_[list].next = next;
  prev_of(next) = sentinel(list);
  if (is_sentinel(next)) mark_empty(list);
  return handle;
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline void Wheel<Nodes>::append_all(std::uint32_t from, std::uint32_t to) noexcept {
  const Handle first = sentinels_[from].next;
  const Handle last = sentinels_[from].prev;
  const Handle before = sentinels_[to].prev;
  next_of(before) = first;
  nodes_.prev(first) = before;
  nodes_.next(last) = sentinel(to);
  sentinels_[to].prev = last;
  sentinels_[from] = {sentinel(from), sentinel(from)};
  mark_empty(from);
  mark_used(to);
}

/// Moves all nodes of the slot, lane by lane, to the end of one list.
template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline void Wheel<Nodes>::gather_lanes(std::uint32_t slot, std::uint32_t list) noexcept {
  for_each_lane(slot, [&](std::uint32_t lane) { append_all(slot * kLanes + lane, list); });
}

/// Places up to `limit` nodes of the cascade in their slots. Returns how many.
template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
std::size_t Wheel<Nodes>::place_anew(std::size_t limit) noexcept {
  std::array<Handle, kLanes> at;
  for_each_lane(kCascadeSlot, [&](std::uint32_t lane) {
    at[lane] = sentinels_[kCascade + lane].next;
    nodes_.prefetch(at[lane]);
  });
  std::size_t placed = 0;
  while (!is_empty(kCascadeSlot) && placed < limit) {
    for_each_lane(kCascadeSlot, [&](std::uint32_t lane) {
      if (placed == limit) return;
      const Handle handle = at[lane];
      const Handle next = nodes_.next(handle);
      at[lane] = next;
      if (is_sentinel(next)) {
        sentinels_[kCascade + lane] = {next, next};
        mark_empty(kCascade + lane);
      } else {
        nodes_.prefetch(next);
      }
      push_back(list_for(nodes_.deadline(handle)), handle);
      ++placed;
    });
  }
  for_each_lane(kCascadeSlot, [&](std::uint32_t lane) {
    sentinels_[kCascade + lane].next = at[lane];
    nodes_.prev(at[lane]) = sentinel(kCascade + lane);
  });
  return placed;
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline std::int64_t Wheel<Nodes>::slot_start(int level, int slot) const noexcept {
  const int shift = level * kBits;
  const auto above = static_cast<std::uint64_t>(now_) >> (shift + kBits) << (shift + kBits);
  return static_cast<std::int64_t>(above | static_cast<std::uint64_t>(slot) << shift);
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline int Wheel<Nodes>::first_level() const noexcept {
  int level = 0;
  while (level < kLevels && occupied_[static_cast<std::size_t>(level)] == 0) ++level;
  return level;
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline void Wheel<Nodes>::insert(Handle handle) {
  TARRY_ASSERT(handle <= kMaxHandle);
  push_back(list_for_insert(nodes_.deadline(handle)), handle);
  ++size_;
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline void Wheel<Nodes>::remove(Handle handle) {
  const Handle next = nodes_.next(handle);
  const Handle prev = nodes_.prev(handle);
  TARRY_ASSERT(next != kNone && prev != kNone);
  Handle& back = prev_of(next);
  Handle& forth = next_of(prev);
  TARRY_ASSERT(back == handle && forth == handle);
  back = prev;
  forth = next;
  // The neighbours are equal only if the list has no other node: both are then the sentinel.
  if (next == prev) mark_empty(next & ~kTag);
  nodes_.next(handle) = kNone;
  nodes_.prev(handle) = kNone;
  --size_;
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
inline std::optional<std::int64_t> Wheel<Nodes>::next_due() const noexcept {
  if (!is_empty(kExpiredSlot) || !is_empty(kCascadeSlot)) return now_;
  const int level = first_level();
  if (level == kLevels) return std::nullopt;
  return slot_start(level, std::countr_zero(occupied_[static_cast<std::size_t>(level)]));
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
template <typename F>
std::size_t Wheel<Nodes>::advance_to(std::int64_t now_ms, F&& on_expired, std::size_t limit) {
  TARRY_ASSERT(!advancing_);
  const std::int64_t target = std::min(now_ms, kHorizon - 1);
  if (target < now_) return 0;
  advancing_ = true;
  std::size_t given_out = 0;
  std::size_t work = 0;
  while (true) {
    work += place_anew(limit - work);
    if (!is_empty(kCascadeSlot)) break;
    cascade_span_ = 0;

    while (!is_empty(kExpiredSlot) && work < limit) {
      const Handle handle = pop_front(kExpired);
      nodes_.next(handle) = kNone;
      nodes_.prev(handle) = kNone;
      --size_;
      ++work;
      ++given_out;
      on_expired(handle);
    }
    if (!is_empty(kExpiredSlot)) break;

    const int level = first_level();
    if (level == kLevels) {
      now_ = target;
      break;
    }
    const int slot = std::countr_zero(occupied_[static_cast<std::size_t>(level)]);
    const std::int64_t start = slot_start(level, slot);
    if (start > target) {
      // Every node stays in its list: down to the level of the first slot in use, target has the
      // same higher digits as that slot, and a smaller digit at the level itself.
      now_ = target;
      break;
    }
    now_ = start;
    const auto begun =
        static_cast<std::uint32_t>(level) * kSlots + static_cast<std::uint32_t>(slot);
    if (level == 0) {
      gather_lanes(begun, kExpired);
    } else {
      for_each_lane(
          begun, [&](std::uint32_t lane) { append_all(begun * kLanes + lane, kCascade + lane); });
      cascade_span_ = std::uint64_t{1} << (level * kBits);
    }
  }
  advancing_ = false;
  return given_out;
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
void Wheel<Nodes>::rebase(std::int64_t now_ms) {
  TARRY_ASSERT(!advancing_);
  TARRY_ASSERT(now_ms >= 0);
  if (now_ms >= now_) return;
  // All nodes go through `expired`, which keeps their order: nodes with equal deadlines share a
  // list, or the earlier ones have left the cascade already.
  for (std::uint32_t level = 0; level < kLevels; ++level) {
    while (occupied_[level] != 0) {
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(occupied_[level]));
      gather_lanes(level * kSlots + slot, kExpired);
    }
  }
  gather_lanes(kCascadeSlot, kExpired);
  if (!is_empty(kExpiredSlot)) append_all(kExpired, kCascade);
  cascade_span_ = is_empty(kCascadeSlot) ? 0 : kEverything;
  now_ = now_ms;
}

template <typename Nodes>
  requires WheelNodes<std::remove_reference_t<Nodes>>
void Wheel<Nodes>::check() const {
  // The accessors that read links are not const, hence this cast.
  auto& self = const_cast<Wheel&>(*this);
  TARRY_ASSERT(now_ >= 0 && now_ < kHorizon);
  std::size_t linked = 0;
  for (std::uint32_t list = 0; list < kLists; ++list) {
    Handle before = sentinel(list);
    for (Handle at = sentinels_[list].next; at != sentinel(list); at = self.next_of(at)) {
      TARRY_ASSERT(!is_sentinel(at));
      TARRY_ASSERT(self.prev_of(at) == before);
      ++linked;
      TARRY_ASSERT(linked <= size_);
      const std::int64_t deadline = nodes_.deadline(at);
      if (list / kLanes == kCascadeSlot) {
        TARRY_ASSERT(cascade_span_ != 0);
        const std::uint32_t lane =
            cascade_span_ == kEverything ? 0 : lane_for(std::max(deadline, now_));
        TARRY_ASSERT(list == kCascade + lane);
        TARRY_ASSERT(deadline <= now_ || differing_bits(deadline) < cascade_span_);
      } else {
        TARRY_ASSERT(list_for(deadline) == list);
      }
      before = at;
    }
    TARRY_ASSERT(sentinels_[list].prev == before);
    TARRY_ASSERT((used_lanes_[list / kLanes] >> (list % kLanes) & 1) ==
                 (is_sentinel(before) ? 0 : 1));
  }
  TARRY_ASSERT(linked == size_);
  for (std::uint32_t slot = 0; slot < kAllSlots; ++slot) {
    TARRY_ASSERT(is_empty(slot) == ((occupied_[slot / kSlots] >> (slot % kSlots) & 1) == 0));
  }
  for (std::uint32_t level = 0; level < kLevels; ++level) {
    const auto digit = static_cast<std::uint64_t>(now_) >> (level * kBits) & (kSlots - 1);
    const std::uint64_t up_to_now = (std::uint64_t{2} << digit) - 1;  // all ones for digit 63
    TARRY_ASSERT((occupied_[level] & up_to_now) == 0);
  }
}

}  // namespace tarry::timing
