// S16: the usual queue on one machine, Java's DelayQueue: a binary heap in memory under one lock. A
// removal searches the whole heap, as DelayQueue's does.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "designs/local/local.h"
#include "designs/openers.h"

namespace tarry::bench {
namespace {

class Heap final : public Local {
 private:
  static bool later(const LocalEntry& a, const LocalEntry& b) { return a.due_ms > b.due_ms; }

  void add(LocalEntry entry) override {
    heap_.push_back(std::move(entry));
    std::ranges::push_heap(heap_, later);
  }
  void take(std::int64_t now, std::size_t max, Taken& taken) override {
    while (taken.size() < max && next_ms() <= now) {
      std::ranges::pop_heap(heap_, later);
      taken.payloads.push_back(std::move(heap_.back().payload));
      heap_.pop_back();
    }
  }
  std::int64_t next_ms() override {
    return heap_.empty() ? std::numeric_limits<std::int64_t>::max() / 2'000'000
                         : heap_.front().due_ms;
  }
  bool remove(std::string_view key, LocalEntry& entry) override {
    const auto found = std::ranges::find(heap_, key, &LocalEntry::key);
    if (found == heap_.end()) return false;
    entry = std::move(*found);
    *found = std::move(heap_.back());
    heap_.pop_back();
    std::ranges::make_heap(heap_, later);
    return true;
  }

  std::vector<LocalEntry> heap_;
};

}  // namespace

std::unique_ptr<Compared> open_heap(const Place& /*place*/, Role /*role*/) {
  return std::make_unique<Heap>();
}

}  // namespace tarry::bench
