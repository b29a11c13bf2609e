// HandleHeap: a binary heap of handles, which knows where each of its messages stands, so that any
// message can be removed in O(log n).
//
// `Order` has `before(a, b)`, and `place(handle)`: a reference to where the message keeps its place
// in the heap.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "engines/embedded/records/handle.h"

namespace tarry::embedded {

template <typename Order>
class HandleHeap {
 public:
  [[nodiscard]] bool empty() const noexcept { return handles_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return handles_.size(); }
  [[nodiscard]] Handle top() const noexcept { return handles_.front(); }
  /// In no order.
  [[nodiscard]] const std::vector<Handle>& all() const noexcept { return handles_; }

  void insert(const Order& order, Handle handle) {
    handles_.push_back(handle);
    sift_up(order, static_cast<std::uint32_t>(handles_.size()) - 1);
  }
  void remove(const Order& order, Handle handle) noexcept {
    const std::uint32_t place = order.place(handle);
    TARRY_ASSERT(place < handles_.size() && handles_[place] == handle);
    const Handle last = handles_.back();
    handles_.pop_back();
    if (last != handle) {
      set(order, place, last);
      sift_up(order, place);
      sift_down(order, order.place(last));
    }
    if (handles_.empty()) handles_ = std::vector<Handle>();  // gives its memory back
  }

 private:
  void set(const Order& order, std::uint32_t place, Handle handle) noexcept {
    handles_[place] = handle;
    order.place(handle) = place;
  }
  void sift_up(const Order& order, std::uint32_t place) noexcept {
    const Handle handle = handles_[place];
    while (place > 0) {
      const std::uint32_t parent = (place - 1) / 2;
      if (!order.before(handle, handles_[parent])) break;
      set(order, place, handles_[parent]);
      place = parent;
    }
    set(order, place, handle);
  }
  void sift_down(const Order& order, std::uint32_t place) noexcept {
    const Handle handle = handles_[place];
    const auto size = static_cast<std::uint32_t>(handles_.size());
    while (2 * place + 1 < size) {
      std::uint32_t child = 2 * place + 1;
      if (child + 1 < size && order.before(handles_[child + 1], handles_[child])) ++child;
      if (!order.before(handles_[child], handle)) break;
      set(order, place, handles_[child]);
      place = child;
    }
    set(order, place, handle);
  }

  std::vector<Handle> handles_;
};

}  // namespace tarry::embedded
