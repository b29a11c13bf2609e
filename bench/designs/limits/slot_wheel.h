// SlotWheel: the wheel of the sketch: four levels of 256 slots, ticks of a millisecond, doubly
// linked circular lists of handles. A due message moves to a ready list, in the order of its due
// time.
//
// Thread safety: none.
//
// Invariants
//  1. Links below kHeads are the heads of lists: 1,024 slots, and the ready list.
//  2. A handle is in one list or, after `take`, in none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tarry::bench {

class SlotWheel {
 public:
  using Handle = std::uint32_t;

  explicit SlotWheel(std::int64_t now_ms) : now_(now_ms), links_(kHeads), due_(kHeads) {
    for (Handle head = 0; head < kHeads; ++head) links_[head] = {head, head};
  }

  /// A handle that no other call has returned. It is in no list.
  [[nodiscard]] Handle make() {
    links_.emplace_back();
    due_.push_back(0);
    return static_cast<Handle>(links_.size() - 1);
  }
  void insert(Handle handle, std::int64_t due_ms) {
    due_[handle] = due_ms;
    place(handle);
  }
  /// Takes a handle out of its list.
  void remove(Handle handle) {
    const Link link = links_[handle];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
  }
  /// Moves all handles to the ready list that are due now.
  void advance_to(std::int64_t now_ms) {
    while (now_ < now_ms) {
      ++now_;
      for (int level = kLevels - 1; level > 0; --level) {
        if ((now_ & ((std::int64_t{1} << (kBits * level)) - 1)) == 0) cascade(level);
      }
      splice_ready(head_of(0, now_));
    }
  }
  /// The first handle of the ready list, out of that list now; kNone if it is empty.
  [[nodiscard]] Handle take() {
    const Handle first = links_[kReady].next;
    if (first == kReady) return kNone;
    remove(first);
    return first;
  }

  static constexpr Handle kNone = 0;

 private:
  static constexpr int kBits = 8;
  static constexpr int kLevels = 4;
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;
  static constexpr Handle kReady = kLevels * kSlots;
  static constexpr Handle kHeads = kReady + 1;

  struct Link {
    Handle next;
    Handle previous;
  };

  static Handle head_of(int level, std::int64_t ms) {
    const auto slot = static_cast<std::size_t>(ms >> (kBits * level)) & (kSlots - 1);
    return static_cast<Handle>(static_cast<std::size_t>(level) * kSlots + slot);
  }
  void place(Handle handle) {
    const std::int64_t due = due_[handle];
    if (due <= now_) return append(kReady, handle);
    int level = 0;
    const auto apart = static_cast<std::uint64_t>(due ^ now_);
    while (level + 1 < kLevels && apart >> (kBits * (level + 1)) != 0) ++level;
    append(head_of(level, due), handle);
  }
  void append(Handle head, Handle handle) {
    const Handle last = links_[head].previous;
    links_[handle] = {head, last};
    links_[last].next = handle;
    links_[head].previous = handle;
  }
  // Places the handles of a slot anew, in lower levels or, if they are due in a later round of the
  // highest level, in the same slot.
  void cascade(int level) {
    const Handle head = head_of(level, now_);
    Handle at = links_[head].next;
    links_[head] = {head, head};
    while (at != head) {
      const Handle next = links_[at].next;
      place(at);
      at = next;
    }
  }
  void splice_ready(Handle head) {
    const Link list = links_[head];
    if (list.next == head) return;
    const Handle last = links_[kReady].previous;
    links_[last].next = list.next;
    links_[list.next].previous = last;
    links_[list.previous].next = kReady;
    links_[kReady].previous = list.previous;
    links_[head] = {head, head};
  }

  std::int64_t now_;
  std::vector<Link> links_;
  std::vector<std::int64_t> due_;
};

}  // namespace tarry::bench
