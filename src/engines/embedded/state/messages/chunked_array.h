// ChunkedArray<T>: an array that grows by chunks and never moves its elements. So growing to 100M
// entries neither doubles memory for a moment nor stalls the shard during a copy. Beyond the first
// 64 MiB it uses huge pages.
//
// Thread safety: none; one owner.
//
// Invariants
//  1. Elements [0, size) exist; their addresses are stable until destruction.
//  2. A new element is value-initialised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "engines/embedded/state/messages/huge_pages.h"

namespace tarry::embedded {

template <typename T, std::uint32_t ChunkBits = 14>
class ChunkedArray {
 public:
  static constexpr std::uint32_t kChunk = 1u << ChunkBits;
  static_assert(std::is_trivially_destructible_v<T>);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

  [[nodiscard]] T& operator[](std::uint32_t index) noexcept {
    return chunks_[index >> ChunkBits][index & (kChunk - 1)];
  }
  [[nodiscard]] const T& operator[](std::uint32_t index) const noexcept {
    return chunks_[index >> ChunkBits][index & (kChunk - 1)];
  }

  void grow_to(std::uint32_t size) {
    while (std::uint64_t{chunks_.size()} << ChunkBits < size) add_chunk();
    if (size > size_) size_ = size;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return (std::uint64_t{chunks_.size()} << ChunkBits) * sizeof(T);
  }

 private:
  static constexpr std::size_t kChunkBytes = std::size_t{kChunk} * sizeof(T);
  // A big store continues in blocks of many chunks. A smaller store does not: making a huge page
  // takes long enough to show in lateness (docs/decisions/0003).
  static constexpr std::size_t kSingles = (std::size_t{64} << 20) / kChunkBytes;
  static constexpr std::size_t kBlock = 4 * HugeBlock::kPage;
  static constexpr std::size_t kInBlock = kBlock / kChunkBytes;
  static_assert(kInBlock > 0);

  void add_chunk() {
    const std::size_t in_blocks = chunks_.size() < kSingles ? 0 : chunks_.size() - kSingles;
    const bool single = chunks_.size() < kSingles;
    if (single || in_blocks % kInBlock == 0) blocks_.emplace_back(single ? kChunkBytes : kBlock);
    std::byte* const at = blocks_.back().data() + in_blocks % kInBlock * kChunkBytes;
    T* const chunk = reinterpret_cast<T*>(at);
    std::uninitialized_value_construct_n(chunk, kChunk);
    chunks_.push_back(chunk);
  }

  std::vector<HugeBlock> blocks_;
  std::vector<T*> chunks_;
  std::uint32_t size_ = 0;
};

}  // namespace tarry::embedded
