#include "designs/limits/sketch.h"

#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "designs/limits/log_file.h"
#include "designs/limits/records.h"
#include "designs/limits/slot_wheel.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::int64_t kSketchLeaseMs = 30'000;

struct SlabSlot {
  std::uint32_t size = 0;
  std::array<char, 124> payload;
};

class SketchTaken final : public Claimed {
 public:
  std::size_t size() const override { return handles.size(); }
  std::uint64_t proof() const override {
    std::uint64_t sum = 0;
    std::size_t from = 0;
    for (const std::size_t end : ends) {
      sum += proof_of(std::string_view(payloads).substr(from, end - from));
      from = end;
    }
    return sum;
  }
  std::vector<SlotWheel::Handle> handles;
  std::string payloads;           // one after the other
  std::vector<std::size_t> ends;  // of each in `payloads`
};

class Sketch final : public Design {
 public:
  Sketch(const std::string& path, Sync sync) : log_(path, sync) {}

  void push(std::span<const Message> batch) override {
    Records records;
    for (const Message& message : batch) records.put(message);
    log_.append(records.sealed());
    const std::scoped_lock lock(mutex_);
    for (const Message& message : batch) {
      const SlotWheel::Handle handle = free_handle();
      SlabSlot& slot = slab_[handle];
      must(message.payload.size() <= slot.payload.size(), "the payload fits into the slab");
      slot.size = static_cast<std::uint32_t>(message.payload.size());
      std::memcpy(slot.payload.data(), message.payload.data(), message.payload.size());
      wheel_.insert(handle, message.due_ms);
    }
  }

  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<SketchTaken>();
    {
      const std::scoped_lock lock(mutex_);
      const std::int64_t now = now_ms();
      wheel_.advance_to(now);
      while (taken->handles.size() < max) {
        const SlotWheel::Handle handle = wheel_.take();
        if (handle == SlotWheel::kNone) break;
        const SlabSlot& slot = slab_[handle];
        taken->handles.push_back(handle);
        taken->payloads.append(slot.payload.data(), slot.size);
        taken->ends.push_back(taken->payloads.size());
        wheel_.insert(handle, now + kSketchLeaseMs);
      }
    }
    if (taken->handles.empty()) return taken;
    Records records;
    records.claimed(taken->size());
    log_.append(records.sealed());
    return taken;
  }

  void settle(const Claimed& claimed) override {
    Records records;
    records.acked(claimed.size());
    log_.append(records.sealed());
    const std::scoped_lock lock(mutex_);
    for (const SlotWheel::Handle handle : static_cast<const SketchTaken&>(claimed).handles) {
      wheel_.remove(handle);
      free_.push_back(handle);
    }
  }

 private:
  SlotWheel::Handle free_handle() {
    if (free_.empty()) {
      const SlotWheel::Handle made = wheel_.make();
      slab_.resize(made + std::size_t{1});
      return made;
    }
    const SlotWheel::Handle handle = free_.back();
    free_.pop_back();
    return handle;
  }

  LogFile log_;
  std::mutex mutex_;  // guards the following
  SlotWheel wheel_{now_ms()};
  std::vector<SlabSlot> slab_;  // by handle
  std::vector<SlotWheel::Handle> free_;
};

}  // namespace

std::unique_ptr<Design> make_sketch(const std::string& path, Sync sync) {
  return std::make_unique<Sketch>(path, sync);
}

}  // namespace tarry::bench
