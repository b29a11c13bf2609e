// S15: the plain timing wheel: one ring of slots, each a doubly linked list. A message that is due
// beyond the ring's span waits in its slot for some rounds, and each round looks at it, as in
// Netty's HashedWheelTimer, which also has 512 slots. The clock ticks every 10 ms, and walks one
// slot per tick, even if the slot is empty.
#include <algorithm>
#include <array>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "designs/local/local.h"
#include "designs/openers.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class PlainWheel final : public Local {
 private:
  static constexpr std::int64_t kTickMs = 10;
  static constexpr std::size_t kSlots = 512;
  using Slot = std::list<LocalEntry>;
  struct Where {
    Slot* slot;
    Slot::iterator entry;
  };

  static std::int64_t tick_of(std::int64_t due_ms) { return (due_ms + kTickMs - 1) / kTickMs; }
  Slot& slot_of(std::int64_t tick) { return slots_[static_cast<std::size_t>(tick) % kSlots]; }

  void add(LocalEntry entry) override {
    // A message that is due already goes into the slot that the clock reaches next.
    Slot& slot = slot_of(std::max(tick_of(entry.due_ms), tick_));
    slot.push_back(std::move(entry));
    where_[slot.back().key] = {&slot, std::prev(slot.end())};
  }
  void take(std::int64_t now, std::size_t max, Taken& taken) override {
    for (; tick_ <= now / kTickMs; ++tick_) {
      Slot& slot = slot_of(tick_);
      for (auto at = slot.begin(); at != slot.end();) {
        if (taken.size() == max) return;  // the next call takes the rest of the slot
        if (tick_of(at->due_ms) > tick_) {
          ++at;
          continue;
        }
        taken.payloads.push_back(std::move(at->payload));
        where_.erase(at->key);
        at = slot.erase(at);
      }
    }
  }
  std::int64_t next_ms() override { return tick_ * kTickMs; }
  bool remove(std::string_view key, LocalEntry& entry) override {
    const auto found = where_.find(std::string(key));
    if (found == where_.end()) return false;
    entry = std::move(*found->second.entry);
    found->second.slot->erase(found->second.entry);
    where_.erase(found);
    return true;
  }

  std::array<Slot, kSlots> slots_;
  std::unordered_map<std::string, Where> where_;
  std::int64_t tick_ = now_ms() / kTickMs;  // the next tick to walk
};

}  // namespace

std::unique_ptr<Compared> open_plain_wheel(const Place& /*place*/, Role /*role*/) {
  return std::make_unique<PlainWheel>();
}

}  // namespace tarry::bench
