#include "net/redis_arena.h"

#include <algorithm>
#include <cstring>

namespace tarry::net {
namespace {

constexpr std::size_t kAlign = alignof(std::max_align_t);
constexpr std::size_t kLargestBlock = 64 * 1024;  // but for one piece that is larger

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

void* RedisArena::add_block(void* block) {
  if (block != nullptr) blocks_.emplace_back(static_cast<std::byte*>(block));
  return block;
}

// Null where it needs a block of its own.
void* RedisArena::cut(std::size_t size) noexcept {
  if (size > left_) {
    if (size > next_size_ / 2) return nullptr;
    left_ = 0;
    at_ = static_cast<std::byte*>(add_block(std::malloc(next_size_)));
    if (at_ == nullptr) return nullptr;
    left_ = next_size_;
    next_size_ = std::min(next_size_ * 2, kLargestBlock);
  }
  std::byte* const taken = at_;
  at_ += size;
  left_ -= size;
  return taken;
}

void* RedisArena::take(std::size_t bytes) noexcept {
  const std::size_t size = aligned(bytes);
  if (void* const taken = cut(size)) return taken;
  return add_block(std::malloc(std::max(size, kAlign)));
}

// By calloc where it is large: that need not touch the pages of an array that was only announced.
void* RedisArena::take_zeroed(std::size_t bytes) noexcept {
  const std::size_t size = aligned(bytes);
  if (void* const taken = cut(size)) return std::memset(taken, 0, size);
  return add_block(std::calloc(std::max(size, kAlign), 1));
}

}  // namespace tarry::net
