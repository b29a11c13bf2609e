// MessageSlab: what a shard keeps in RAM of each message, 48 bytes, named by a 32-bit handle. Keys
// and payloads stay in the journal.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. A handle names one message from its put until it is gone; records in the journal name it too,
//     so replay places messages at the handles they had.
//  2. A free slot has Stage::free and is on the free list exactly once (after `rebuild_free_list`).
//  3. `next` and `prev` belong to the one list the message is in: the due wheel (scheduled, dead,
//     remembered), the lease wheel (leased; scheduled and held), or the free list; of a ready
//     message `next` is its place in its lane.
#pragma once

#include <cstdint>

#include "base/assert.h"
#include "base/prefetch.h"
#include "engines/embedded/chunked_array.h"
#include "engines/embedded/position.h"

namespace tarry::embedded {

using Handle = std::uint32_t;
inline constexpr Handle kNoHandle = 0xFFFF'FFFF;
inline constexpr Handle kMaxHandle = 0x7FFF'FFFF;  // the wheel's limit

enum class Stage : std::uint8_t { free, scheduled, ready, leased, dead, remembered };

struct Message {
  std::uint64_t id = 0;
  std::uint32_t due_low = 0;  // due time, 48 bits of milliseconds
  std::uint16_t due_high = 0;
  std::uint8_t stage_bits : 3 = 0;
  std::uint8_t made_key : 1 = 0;
  std::uint8_t stopping : 1 = 0;   // leased, and cancelled meanwhile
  std::uint8_t held : 1 = 0;       // scheduled, past due by REALTIME, waits for BOOTTIME
  std::uint8_t straggler : 1 = 0;  // ready, in its lane's heap: `next` is the place there
  std::uint8_t options : 1 = 0;    // has an entry in the shard's options table
  std::uint8_t era = 0;            // relative delay: the clock era it was counted in; 0: none
  Position position;
  std::uint32_t next = kNoHandle;
  std::uint32_t prev = kNoHandle;
  std::uint32_t queue = 0;
  std::uint32_t priority = 0;
  std::uint32_t key_hash = 0;         // low half of the key's hash: its place in the index
  std::uint32_t history = kNoHandle;  // what it has been through, once it was claimed

  [[nodiscard]] Stage stage() const noexcept { return static_cast<Stage>(stage_bits); }
  void set_stage(Stage stage) noexcept { stage_bits = static_cast<std::uint8_t>(stage) & 7u; }
  [[nodiscard]] std::int64_t due_ms() const noexcept {
    return static_cast<std::int64_t>(std::uint64_t{due_high} << 32 | due_low);
  }
  void set_due_ms(std::int64_t due_ms) noexcept {
    TARRY_ASSERT(due_ms >= 0 && due_ms < (std::int64_t{1} << 48));
    due_low = static_cast<std::uint32_t>(due_ms);
    due_high = static_cast<std::uint16_t>(due_ms >> 32);
  }
};
static_assert(sizeof(Message) == 48);

class MessageSlab {
 public:
  [[nodiscard]] Message& operator[](Handle handle) noexcept { return messages_[handle]; }
  [[nodiscard]] const Message& operator[](Handle handle) const noexcept {
    return messages_[handle];
  }
  /// For who looks at it soon: asks the processor for it, which may lie across two cache lines.
  void prefetch(Handle handle) const noexcept {
    const Message& message = messages_[handle];
    base::prefetch_line(&message);
    base::prefetch_line(&message.history);
  }
  /// One past the highest handle ever used.
  [[nodiscard]] Handle end() const noexcept { return messages_.size(); }
  [[nodiscard]] bool is_live(Handle handle) const noexcept {
    return handle < messages_.size() && messages_[handle].stage() != Stage::free;
  }
  [[nodiscard]] bool holds(Handle handle, std::uint64_t id) const noexcept {
    return is_live(handle) && messages_[handle].id == id;
  }

  /// The handle that `place` takes next when nobody names one. Does not take it.
  [[nodiscard]] Handle peek_free() const noexcept {
    return free_ != kNoHandle ? free_ : messages_.size();
  }

  /// Takes a free slot. The one that `peek_free` named, or, while replaying, any.
  Message& place(Handle handle) {
    TARRY_ASSERT(handle <= kMaxHandle);
    if (handle == free_ && !replaying_) {
      free_ = messages_[handle].next;
      // The next one's name stands in the one before it: who places many would wait for each.
      if (free_ != kNoHandle) prefetch(free_);
    } else {
      TARRY_ASSERT(replaying_ || handle == messages_.size());
      messages_.grow_to(handle + 1);
    }
    Message& message = messages_[handle];
    TARRY_ASSERT(message.stage() == Stage::free);
    message = Message{};
    return message;
  }

  void free(Handle handle) noexcept {
    Message& message = messages_[handle];
    message = Message{};
    if (replaying_) return;
    message.next = free_;
    free_ = handle;
  }

  /// While replaying, slots are taken in any order, and the free list is not kept.
  void begin_replay() noexcept { replaying_ = true; }
  void rebuild_free_list() noexcept {
    replaying_ = false;
    free_ = kNoHandle;
    for (Handle handle = messages_.size(); handle-- > 0;) {
      if (messages_[handle].stage() != Stage::free) continue;
      messages_[handle].next = free_;
      free_ = handle;
    }
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return messages_.bytes(); }

 private:
  ChunkedArray<Message, 12> messages_;
  Handle free_ = kNoHandle;
  bool replaying_ = false;
};

}  // namespace tarry::embedded
