#include "net/redis/protocol/redis_arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tarry::net {
namespace {

constexpr std::size_t kAlign = alignof(std::max_align_t);
constexpr std::size_t kLargestBlock = 64 * 1024;  // a single piece may need a larger one

constexpr std::size_t kHead = kAlign;  // offset of a block's usable bytes

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

// Returns null if there is no memory.
std::byte* RedisArena::add_block(std::size_t size, bool zeroed) noexcept {
  const std::size_t whole = kHead + size;
  if (whole < size) return nullptr;
  void* const block = zeroed ? std::calloc(whole, 1) : std::malloc(whole);
  if (block == nullptr) return nullptr;
  last_ = ::new (block) Head{last_};
  return static_cast<std::byte*>(block) + kHead;
}

void RedisArena::free_blocks() noexcept {
  while (last_ != nullptr) std::free(std::exchange(last_, last_->before));
}

// Returns null if the piece needs a block of its own.
void* RedisArena::cut(std::size_t size) noexcept {
  if (size > left_) {
    if (size > next_size_ / 2) return nullptr;
    left_ = 0;
    at_ = add_block(next_size_, false);
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
  return add_block(size, false);
}

// A large piece uses calloc, which need not touch the pages: the elements of an announced array may
// never arrive.
void* RedisArena::take_zeroed(std::size_t bytes) noexcept {
  const std::size_t size = aligned(bytes);
  if (void* const taken = cut(size)) return std::memset(taken, 0, size);
  return add_block(size, true);
}

}  // namespace tarry::net
