// HandleList: handles in the order in which they were appended. Each can be removed by its place.
// Thirteen handles share a cache line. So a walk over the list knows the next handles before it
// looks at their messages, and can prefetch these messages together. With links in the messages
// themselves, the walk would miss the cache for each message.
//
// Removing a handle leaves its place empty. So if nearly all handles were removed, each remaining
// one may occupy a whole cache line.
//
// Thread safety: none; the shard's thread owns lists and blocks.
//
// Invariants
//  1. A block of a list holds at least one handle (a bit of `live`); free blocks hold none.
//  2. Within a block, handles stand in the order of appending, and a block's handles come before
//     the next block's. Handles are appended to the last block only.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/assert.h"
#include "engines/embedded/state/messages/chunked_array.h"
#include "engines/embedded/state/messages/message_slab.h"

namespace tarry::embedded {

struct alignas(64) HandleBlock {
  static constexpr std::uint32_t kPlaces = 13;

  std::array<Handle, kPlaces> handles;
  std::uint32_t next;
  std::uint32_t prev;
  std::uint16_t live;  // which places hold a handle, by bit
  std::uint16_t used;  // places given out so far

  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(std::popcount(live));
  }
  /// Passes the handles to `visit` in their order, until `visit` returns false; then returns false
  /// too.
  template <typename F>
  bool visit(F&& visit) const {
    for (unsigned left = live; left != 0; left &= left - 1) {
      if (!visit(handles[static_cast<std::size_t>(std::countr_zero(left))])) return false;
    }
    return true;
  }
  /// The same from the last to the first.
  template <typename F>
  bool visit_backwards(F&& visit) const {
    for (unsigned left = live; left != 0; left -= std::bit_floor(left)) {
      if (!visit(handles[static_cast<std::size_t>(std::bit_width(left) - 1)])) return false;
    }
    return true;
  }
};
static_assert(sizeof(HandleBlock) == 64);

/// The blocks of many lists.
class HandleBlocks {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  [[nodiscard]] HandleBlock& operator[](std::uint32_t block) noexcept { return blocks_[block]; }
  [[nodiscard]] const HandleBlock& operator[](std::uint32_t block) const noexcept {
    return blocks_[block];
  }
  /// Returns an empty block. Throws std::bad_alloc; then nothing has changed.
  [[nodiscard]] std::uint32_t allocate() {
    std::uint32_t block = free_;
    if (block != kNone) {
      free_ = blocks_[block].next;
    } else {
      block = blocks_.size();
      blocks_.grow_to(block + 1);
    }
    blocks_[block].next = kNone;
    blocks_[block].prev = kNone;
    blocks_[block].live = 0;
    blocks_[block].used = 0;
    return block;
  }
  void free(std::uint32_t block) noexcept {
    blocks_[block].next = free_;
    free_ = block;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return blocks_.bytes(); }

 private:
  ChunkedArray<HandleBlock, 8> blocks_;
  std::uint32_t free_ = kNone;
};

class HandleList {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == HandleBlocks::kNone; }
  /// Call `first` and `last` only if the list is not empty.
  [[nodiscard]] Handle first(const HandleBlocks& blocks) const noexcept {
    const HandleBlock& block = blocks[head_];
    return block.handles[static_cast<std::size_t>(std::countr_zero(block.live))];
  }
  [[nodiscard]] Handle last(const HandleBlocks& blocks) const noexcept {
    const HandleBlock& block = blocks[tail_];
    return block.handles[static_cast<std::size_t>(std::bit_width(unsigned{block.live}) - 1)];
  }
  /// The first and the last block: HandleBlocks::kNone if the list is empty.
  [[nodiscard]] std::uint32_t head() const noexcept { return head_; }
  [[nodiscard]] std::uint32_t tail() const noexcept { return tail_; }

  /// Returns the place, which belongs to the handle until it is removed. Throws std::bad_alloc, and
  /// then nothing has changed.
  std::uint32_t append(HandleBlocks& blocks, Handle handle) {
    if (empty() || blocks[tail_].used == HandleBlock::kPlaces) add_block(blocks);
    HandleBlock& block = blocks[tail_];
    const std::uint32_t index = block.used++;
    block.handles[index] = handle;
    block.live = static_cast<std::uint16_t>(block.live | 1U << index);
    return tail_ << kIndexBits | index;
  }

  /// Aborts if the handle is not there.
  void remove(HandleBlocks& blocks, std::uint32_t place, Handle handle) noexcept {
    const std::uint32_t at = place >> kIndexBits;
    const std::uint32_t index = place & ((1U << kIndexBits) - 1);
    HandleBlock& block = blocks[at];
    TARRY_ASSERT(index < HandleBlock::kPlaces && (block.live >> index & 1) != 0 &&
                 block.handles[index] == handle);
    block.live = static_cast<std::uint16_t>(block.live & ~(1U << index));
    if (block.live == 0) remove_block(blocks, at);
  }

 private:
  static constexpr int kIndexBits = 4;

  void add_block(HandleBlocks& blocks) {
    const std::uint32_t block = blocks.allocate();
    TARRY_ASSERT(block >> (32 - kIndexBits) == 0);
    blocks[block].prev = tail_;
    (empty() ? head_ : blocks[tail_].next) = block;
    tail_ = block;
  }
  void remove_block(HandleBlocks& blocks, std::uint32_t at) noexcept {
    const HandleBlock& block = blocks[at];
    (block.prev == HandleBlocks::kNone ? head_ : blocks[block.prev].next) = block.next;
    (block.next == HandleBlocks::kNone ? tail_ : blocks[block.next].prev) = block.prev;
    blocks.free(at);
  }

  std::uint32_t head_ = HandleBlocks::kNone;
  std::uint32_t tail_ = HandleBlocks::kNone;
};

}  // namespace tarry::embedded
