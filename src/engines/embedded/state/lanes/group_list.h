// Group: the messages of one queue of one shard that share a group. GroupList: a list of groups,
// linked through the groups.
//
// Thread safety: none; the shard's thread owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "engines/embedded/state/messages/handle_heap.h"
#include "engines/embedded/state/messages/message_slab.h"

namespace tarry::embedded {

/// By priority, then by due time, then in push order (id).
struct ClaimOrder {
  MessageSlab* slab;
  [[nodiscard]] bool before(Handle a, Handle b) const noexcept {
    const Message& left = (*slab)[a];
    const Message& right = (*slab)[b];
    if (left.priority != right.priority) return left.priority < right.priority;
    if (left.due_ms() != right.due_ms()) return left.due_ms() < right.due_ms();
    return left.id < right.id;
  }
  [[nodiscard]] std::uint32_t& place(Handle handle) const noexcept { return (*slab)[handle].next; }
};

/// By due time.
struct DueOrder {
  MessageSlab* slab;
  [[nodiscard]] bool before(Handle a, Handle b) const noexcept {
    return (*slab)[a].due_ms() < (*slab)[b].due_ms();
  }
  [[nodiscard]] std::uint32_t& place(Handle handle) const noexcept { return (*slab)[handle].prev; }
};

struct Group {
  enum class Standing : std::uint8_t {
    idle,     // no message is ready
    in_turn,  // claims take its messages
    held,     // messages are ready, and its limit or its order lets none be claimed
  };

  const std::string* name = nullptr;  // null: the messages that have no group
  std::uint64_t messages = 0;         // in all stages but remembered
  std::uint32_t leased = 0;
  std::uint32_t freed = 0;  // leases to give back to the gate
  bool noted = false;       // is among the groups that may have such leases
  Standing standing = Standing::idle;
  HandleHeap<ClaimOrder> ready;
  Group* next = nullptr;  // in the list of its standing
  Group* prev = nullptr;
};

class GroupList {
 public:
  [[nodiscard]] Group* front() const noexcept { return front_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void push_back(Group& group) noexcept {
    group.prev = back_;
    group.next = nullptr;
    (back_ != nullptr ? back_->next : front_) = &group;
    back_ = &group;
    ++size_;
  }
  void remove(Group& group) noexcept {
    TARRY_ASSERT(size_ > 0);
    (group.prev != nullptr ? group.prev->next : front_) = group.next;
    (group.next != nullptr ? group.next->prev : back_) = group.prev;
    group.next = group.prev = nullptr;
    --size_;
  }

 private:
  Group* front_ = nullptr;
  Group* back_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tarry::embedded
