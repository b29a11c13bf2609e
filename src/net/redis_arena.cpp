#include "net/redis_arena.h"

#include <algorithm>

namespace tarry::net {
namespace {

constexpr std::size_t kAlign = alignof(std::max_align_t);
constexpr std::size_t kLargestBlock = 64 * 1024;  // but for one piece that is larger

}  // namespace

// By calloc, which need not touch the pages of a large array that a server only announced.
std::byte* RedisArena::add_block(std::size_t bytes) {
  blocks_.emplace_back(static_cast<std::byte*>(std::calloc(bytes, 1)));
  return blocks_.back().get();
}

void* RedisArena::take(std::size_t bytes) noexcept {
  const std::size_t size = (bytes + kAlign - 1) / kAlign * kAlign;
  if (size > left_) {
    if (size > next_size_ / 2) return add_block(size);
    at_ = add_block(next_size_);
    if (at_ == nullptr) {
      left_ = 0;
      return nullptr;
    }
    left_ = next_size_;
    next_size_ = std::min(next_size_ * 2, kLargestBlock);
  }
  std::byte* const taken = at_;
  at_ += size;
  left_ -= size;
  return taken;
}

}  // namespace tarry::net
