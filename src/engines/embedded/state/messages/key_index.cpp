#include "engines/embedded/state/messages/key_index.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tarry::embedded {
namespace {
constexpr std::size_t kFirstSlots = 64;
}

void KeyIndex::place(Slot slot) noexcept {
  std::size_t at = home(slot);
  while (slots_[at].handle != kNoHandle) at = (at + 1) & mask();
  slots_[at] = slot;
}

void KeyIndex::grow(std::size_t slots) {
  std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : before) {
    if (slot.handle != kNoHandle) place(slot);
  }
}

void KeyIndex::reserve(std::size_t count) {
  const std::size_t slots = std::bit_ceil(std::max(kFirstSlots, count / 3 * 4 + 4));
  if (slots > slots_.size()) grow(slots);
}

void KeyIndex::insert(Handle handle, std::uint64_t hash) {
  if (slots_.empty()) slots_.resize(kFirstSlots);
  if ((size_ + 1) * 4 > slots_.size() * 3) grow(slots_.size() * 2);
  TARRY_ASSERT((*slab_)[handle].key_hash == static_cast<std::uint32_t>(hash));
  place({handle, static_cast<std::uint32_t>(hash >> 32)});
  ++size_;
}

void KeyIndex::erase(Handle handle) {
  std::size_t at = (*slab_)[handle].key_hash & mask();
  while (slots_[at].handle != handle) {
    TARRY_ASSERT(slots_[at].handle != kNoHandle);
    at = (at + 1) & mask();
  }
  // Closes the gap: later entries move back, unless that would put them before their home slot.
  std::size_t gap = at;
  for (std::size_t next = (gap + 1) & mask(); slots_[next].handle != kNoHandle;
       next = (next + 1) & mask()) {
    const std::size_t from_home = (next - home(slots_[next])) & mask();
    const std::size_t from_gap = (next - gap) & mask();
    if (from_home < from_gap) continue;
    slots_[gap] = slots_[next];
    gap = next;
  }
  slots_[gap] = Slot{};
  --size_;
}

}  // namespace tarry::embedded
