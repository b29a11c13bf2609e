// ReadyLanes: the due messages of one queue of one shard, in the order of guarantee 8: by priority,
// then by due time, then in push order (id).
//
// Each priority has a lane. The wheel hands out messages in the order of their due times, so nearly
// all of them join at the end of their lane's list, O(1). A late message (pushed with a due time in
// the past, released, returned by a lease) joins the lane's heap, O(log heap). The lane's first
// message is the lesser of the list's head and the heap's top.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. A lane's list is sorted by (due, id), and its heap is a binary heap in the same order. A
//     message's `next` is its place in the list or in the heap.
//  2. There are no empty lanes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engines/embedded/state/messages/handle_list.h"
#include "engines/embedded/state/messages/message_slab.h"

namespace tarry::embedded {

class ReadyLanes {
 public:
  ReadyLanes(MessageSlab& slab, HandleBlocks& blocks) : slab_(&slab), blocks_(&blocks) {}

  void insert(Handle handle);
  void remove(Handle handle);
  /// The first message in that order, or kNoHandle.
  [[nodiscard]] Handle first() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return lanes_.empty(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The earliest due time of any lane; only while not empty.
  [[nodiscard]] std::int64_t oldest_due_ms() const noexcept;

  /// Passes the messages of the lists, after the first `skip`, to `visit`, in order, until `visit`
  /// returns false. Leaves out the messages in heaps.
  template <typename F>
  void visit_behind(std::size_t skip, F&& visit) const {
    for (const auto& [priority, lane] : lanes_) {
      for (std::uint32_t at = lane.list.head(); at != HandleBlocks::kNone;
           at = (*blocks_)[at].next) {
        const HandleBlock& block = (*blocks_)[at];
        if (skip >= block.count()) {
          skip -= block.count();
          continue;
        }
        prefetch(block.next);
        const bool goes_on = block.visit([&](Handle handle) {
          if (skip == 0) return visit(handle);
          --skip;
          return true;
        });
        if (!goes_on) return;
      }
    }
  }

  /// Removes every message due after `now_ms` (the clock stepped back) and passes it to `removed`.
  template <typename F>
  void remove_later_than(std::int64_t now_ms, F&& removed) {
    std::vector<Handle> later;
    const auto note_later = [&](Handle handle) {
      const bool is_later = (*slab_)[handle].due_ms() > now_ms;
      if (is_later) later.push_back(handle);
      return is_later;
    };
    for (const auto& [priority, lane] : lanes_) {
      std::uint32_t at = lane.list.tail();
      while (at != HandleBlocks::kNone && (*blocks_)[at].visit_backwards(note_later)) {
        at = (*blocks_)[at].prev;
      }
      for (const Handle handle : lane.heap) note_later(handle);
    }
    for (const Handle handle : later) {
      remove(handle);
      removed(handle);
    }
  }

 private:
  struct Lane {
    HandleList list;
    std::vector<Handle> heap;
    [[nodiscard]] bool empty() const noexcept { return list.empty() && heap.empty(); }
  };

  [[nodiscard]] bool before(Handle a, Handle b) const noexcept;
  [[nodiscard]] Handle first_of(const Lane& lane) const noexcept;
  /// Asks the processor for a block's messages. `block` may be kNone.
  void prefetch(std::uint32_t block) const noexcept;
  void heap_set(Lane& lane, std::uint32_t place, Handle handle) noexcept;
  void sift_up(Lane& lane, std::uint32_t place) noexcept;
  void sift_down(Lane& lane, std::uint32_t place) noexcept;

  MessageSlab* slab_;
  HandleBlocks* blocks_;
  std::map<std::uint32_t, Lane> lanes_;
  std::uint64_t size_ = 0;
};

}  // namespace tarry::embedded
