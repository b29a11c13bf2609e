// KeyIndex: finds the handles of users' keys in a shard, by a keyed 64-bit hash of the key. It is
// an open-addressed table. A slot of 8 bytes holds the handle and the hash's high half. The low
// half, which determines the slot, is in the message, so growing and erasing need no key. Linear
// probing, backward-shift deletion (Knuth 6.4 R), load at most 3/4.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. Each indexed handle stands in exactly one slot, and between its home slot and that slot no
//     slot is empty.
//  2. Two keys may share a hash. So a hit is only a candidate: the caller compares the key's bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/embedded/state/messages/message_slab.h"

namespace tarry::embedded {

class KeyIndex {
 public:
  explicit KeyIndex(const MessageSlab& slab) : slab_(&slab) {}

  /// The message's `key_hash` must hold the low half of `hash` already.
  void insert(Handle handle, std::uint64_t hash);
  /// The handle must be in the index, its message still in the slab.
  void erase(Handle handle);

  /// Calls `candidate(handle)` for each handle of that hash until it returns true. Returns that
  /// handle, or kNoHandle.
  template <typename F>
  [[nodiscard]] Handle find(std::uint64_t hash, F&& candidate) const {
    if (slots_.empty()) return kNoHandle;
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (std::size_t at = hash & mask(); slots_[at].handle != kNoHandle; at = (at + 1) & mask()) {
      if (slots_[at].tag == tag &&
          slab_->operator[](slots_[at].handle).key_hash == static_cast<std::uint32_t>(hash) &&
          candidate(slots_[at].handle)) {
        return slots_[at].handle;
      }
    }
    return kNoHandle;
  }

  void reserve(std::size_t count);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    Handle handle = kNoHandle;
    std::uint32_t tag = 0;
  };

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  [[nodiscard]] std::size_t home(const Slot& slot) const noexcept {
    return (*slab_)[slot.handle].key_hash & mask();
  }
  void place(Slot slot) noexcept;
  void grow(std::size_t slots);

  const MessageSlab* slab_;
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace tarry::embedded
