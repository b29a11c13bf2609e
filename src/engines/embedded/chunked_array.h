// ChunkedArray<T>: an array that grows by chunks and never moves what it holds, so that growing to
// 100M entries neither doubles memory for a moment nor stalls the shard while it copies.
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
#include <vector>

namespace tarry::embedded {

template <typename T, std::uint32_t ChunkBits = 14>
class ChunkedArray {
 public:
  static constexpr std::uint32_t kChunk = 1u << ChunkBits;

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

  [[nodiscard]] T& operator[](std::uint32_t index) noexcept {
    return chunks_[index >> ChunkBits][index & (kChunk - 1)];
  }
  [[nodiscard]] const T& operator[](std::uint32_t index) const noexcept {
    return chunks_[index >> ChunkBits][index & (kChunk - 1)];
  }

  void grow_to(std::uint32_t size) {
    while (std::uint64_t{chunks_.size()} << ChunkBits < size) {
      chunks_.push_back(std::make_unique<T[]>(kChunk));
    }
    if (size > size_) size_ = size;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return (std::uint64_t{chunks_.size()} << ChunkBits) * sizeof(T);
  }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::uint32_t size_ = 0;
};

}  // namespace tarry::embedded
