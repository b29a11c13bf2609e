#include "engines/embedded/state/lanes/ready_lanes.h"

#include <algorithm>
#include <limits>

namespace tarry::embedded {

bool ReadyLanes::before(Handle a, Handle b) const noexcept {
  const Message& left = (*slab_)[a];
  const Message& right = (*slab_)[b];
  if (left.due_ms() != right.due_ms()) return left.due_ms() < right.due_ms();
  return left.id < right.id;
}

Handle ReadyLanes::first_of(const Lane& lane) const noexcept {
  if (lane.list.empty()) return lane.heap.front();
  const Handle first = lane.list.first(*blocks_);
  return !lane.heap.empty() && before(lane.heap.front(), first) ? lane.heap.front() : first;
}

Handle ReadyLanes::first() const noexcept {
  return lanes_.empty() ? kNoHandle : first_of(lanes_.begin()->second);
}

void ReadyLanes::prefetch(std::uint32_t block) const noexcept {
  if (block == HandleBlocks::kNone) return;
  (*blocks_)[block].visit([&](Handle handle) {
    slab_->prefetch(handle);
    return true;
  });
}

std::int64_t ReadyLanes::oldest_due_ms() const noexcept {
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [priority, lane] : lanes_) {
    oldest = std::min<std::int64_t>(oldest, (*slab_)[first_of(lane)].due_ms());
  }
  return oldest;
}

void ReadyLanes::heap_set(Lane& lane, std::uint32_t place, Handle handle) noexcept {
  lane.heap[place] = handle;
  (*slab_)[handle].next = place;
}

void ReadyLanes::sift_up(Lane& lane, std::uint32_t place) noexcept {
  const Handle handle = lane.heap[place];
  while (place > 0) {
    const std::uint32_t parent = (place - 1) / 2;
    if (!before(handle, lane.heap[parent])) break;
    heap_set(lane, place, lane.heap[parent]);
    place = parent;
  }
  heap_set(lane, place, handle);
}

void ReadyLanes::sift_down(Lane& lane, std::uint32_t place) noexcept {
  const Handle handle = lane.heap[place];
  const auto size = static_cast<std::uint32_t>(lane.heap.size());
  while (2 * place + 1 < size) {
    std::uint32_t child = 2 * place + 1;
    if (child + 1 < size && before(lane.heap[child + 1], lane.heap[child])) ++child;
    if (!before(lane.heap[child], handle)) break;
    heap_set(lane, place, lane.heap[child]);
    place = child;
  }
  heap_set(lane, place, handle);
}

void ReadyLanes::insert(Handle handle) {
  Message& message = (*slab_)[handle];
  Lane& lane = lanes_[message.priority];
  message.prev = kNoHandle;
  if (!lane.list.empty() && before(handle, lane.list.last(*blocks_))) {
    message.straggler = 1;
    lane.heap.push_back(handle);
    ++size_;
    sift_up(lane, static_cast<std::uint32_t>(lane.heap.size()) - 1);
    return;
  }
  message.straggler = 0;
  message.next = lane.list.append(*blocks_, handle);
  ++size_;
}

void ReadyLanes::remove(Handle handle) {
  Message& message = (*slab_)[handle];
  const auto found = lanes_.find(message.priority);
  TARRY_ASSERT(found != lanes_.end());
  Lane& lane = found->second;
  --size_;
  if (message.straggler != 0) {
    const std::uint32_t place = message.next;
    TARRY_ASSERT(place < lane.heap.size() && lane.heap[place] == handle);
    const Handle last = lane.heap.back();
    lane.heap.pop_back();
    if (last != handle) {
      heap_set(lane, place, last);
      sift_up(lane, place);
      sift_down(lane, (*slab_)[last].next);
    }
    message.straggler = 0;
  } else {
    const std::uint32_t head = lane.list.head();
    lane.list.remove(*blocks_, message.next, handle);
    // A caller that takes the first message soon takes the next ones.
    if (lane.list.head() != head && !lane.list.empty()) {
      prefetch((*blocks_)[lane.list.head()].next);
    }
  }
  message.next = kNoHandle;
  if (lane.empty()) lanes_.erase(found);
}

}  // namespace tarry::embedded
