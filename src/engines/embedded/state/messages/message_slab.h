// MessageSlab: a shard's data in RAM about each message, 48 bytes, named by a 32-bit handle. Keys
// and payloads stay in the journal.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. A handle names one message from its put until it is gone; records in the journal name it too,
//     so replay places messages at the handles they had.
//  2. A free slot has Stage::free and is named exactly once in the free list (after
//     `rebuild_free_list`). The free list is a list of chunks: every eleventh free slot holds the
//     handles of ten others, and in `next` the handle of the slot that does so for the next older
//     chunk. `free_` names the slot of the newest chunk. So taking many slots follows no chain of
//     cold slots.
//  3. `next` and `prev` belong to the one list that the message is in: the due wheel (scheduled,
//     dead, remembered), the lease wheel (leased; scheduled and held), or the free list. For a
//     ready message `next` is its place in its lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/prefetch.h"
#include "engines/embedded/records/handle.h"
#include "engines/embedded/records/position.h"
#include "engines/embedded/state/messages/chunked_array.h"

namespace tarry::embedded {

struct Message {
  std::uint64_t id = 0;
  std::uint32_t due_low = 0;  // due time, 48 bits of milliseconds
  std::uint16_t due_high = 0;
  std::uint8_t stage_bits : 3 = 0;
  std::uint8_t generated_key : 1 = 0;
  std::uint8_t stopping : 1 = 0;   // leased, and then cancelled
  std::uint8_t held : 1 = 0;       // scheduled, past due by REALTIME, waits for BOOTTIME
  std::uint8_t straggler : 1 = 0;  // ready, in its lane's heap; `next` is the place there
  std::uint8_t options : 1 = 0;    // has an entry in own_options.h
  std::uint8_t era = 0;            // relative delay: the clock era in which it was counted
  Position position;
  std::uint32_t next = kNoHandle;
  std::uint32_t prev = kNoHandle;
  std::uint32_t queue : 31 = 0;
  std::uint32_t boot_due_unwritten : 1 = 0;  // the full record may lack its BOOTTIME due
  std::uint32_t priority = 0;
  std::uint32_t key_hash = 0;         // low half of the key's hash: its place in the index
  std::uint32_t history = kNoHandle;  // its past, once it was claimed

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
  /// Prefetches the message, which may lie across two cache lines, for a look at it soon.
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

  /// The handle to pass to `place` next. Does not take it.
  [[nodiscard]] Handle peek_free() const noexcept {
    if (free_ == kNoHandle) return messages_.size();
    return names_ == 0 ? free_ : name_in(free_, names_ - 1);
  }

  /// Takes the free slot `handle`: the one of `peek_free`, or any during replay.
  Message& place(Handle handle) {
    TARRY_ASSERT(handle <= kMaxHandle);
    if (replaying_ || free_ == kNoHandle) {
      TARRY_ASSERT(replaying_ || handle == messages_.size());
      messages_.grow_to(handle + 1);
    } else {
      TARRY_ASSERT(handle == peek_free());
      take_free();
    }
    Message& message = messages_[handle];
    TARRY_ASSERT(message.stage() == Stage::free);
    message = Message{};
    return message;
  }

  void free(Handle handle) noexcept {
    messages_[handle] = Message{};
    if (!replaying_) add_free(handle);
  }

  /// While replaying, slots are taken in any order, and the free list is not kept.
  void begin_replay() noexcept { replaying_ = true; }
  void rebuild_free_list() noexcept {
    replaying_ = false;
    free_ = kNoHandle;
    for (Handle handle = messages_.size(); handle-- > 0;) {
      if (messages_[handle].stage() == Stage::free) add_free(handle);
    }
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return messages_.bytes(); }

 private:
  // The offsets at which a free slot names other free slots: the whole slot except `next` and the
  // four bytes with the stage.
  static constexpr std::array<std::uint8_t, 10> kNamesAt{0, 4, 8, 16, 20, 28, 32, 36, 40, 44};
  static_assert(offsetof(Message, due_high) == 12 && offsetof(Message, position) == 16 &&
                offsetof(Message, next) == 24 && offsetof(Message, history) == 44);

  [[nodiscard]] Handle name_in(Handle slot, std::size_t index) const noexcept {
    Handle name = kNoHandle;
    std::memcpy(&name, reinterpret_cast<const char*>(&messages_[slot]) + kNamesAt[index],
                sizeof(name));
    return name;
  }
  void set_name_in(Handle slot, std::size_t index, Handle name) noexcept {
    std::memcpy(reinterpret_cast<char*>(&messages_[slot]) + kNamesAt[index], &name, sizeof(name));
  }

  void add_free(Handle handle) noexcept {
    if (free_ != kNoHandle && names_ < kNamesAt.size()) return set_name_in(free_, names_++, handle);
    messages_[handle].next = std::exchange(free_, handle);
    names_ = 0;
  }

  // Takes the slot that was added last.
  void take_free() noexcept {
    if (names_ > 0) {
      --names_;
      return;
    }
    free_ = messages_[free_].next;
    if (free_ == kNoHandle) return;
    names_ = kNamesAt.size();
    for (std::size_t i = 0; i < names_; ++i) prefetch(name_in(free_, i));
    if (const Handle older = messages_[free_].next; older != kNoHandle) prefetch(older);
  }

  ChunkedArray<Message, 12> messages_;
  Handle free_ = kNoHandle;  // the slot that names the newest chunk
  std::size_t names_ = 0;    // how many it names
  bool replaying_ = false;
};

}  // namespace tarry::embedded
