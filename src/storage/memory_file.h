// The contents of one file in RAM, without its name, and the capacity that all files of a disk
// share.
//
// Thread safety: a MemoryRoom may be used by any thread; for MemoryContents see storage::File.
//  1. Chunk n holds bytes [n * 1 MiB, (n + 1) * 1 MiB); a missing chunk reads as zeros.
//  2. Bytes beyond the size are zero in every chunk, so growing needs no clearing.
//  3. Between calls, charged_ == size_ rounded up to 4 KiB. The room's used bytes include it.
//  4. chunks_ changes only under the exclusive lock; bytes are copied under the shared one.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <utility>

#include "storage/storage.h"

namespace tarry::storage {

class MemoryRoom {
 public:
  explicit MemoryRoom(std::uint64_t capacity) : capacity_(capacity) {}

  /// Takes capacity. If there is not enough, returns false and takes nothing.
  [[nodiscard]] bool take(std::uint64_t bytes) noexcept;
  void give_back(std::uint64_t bytes) noexcept { used_ -= bytes; }
  void set_capacity(std::uint64_t bytes) noexcept { capacity_ = bytes; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  [[nodiscard]] Space space() const noexcept;

 private:
  std::atomic<std::uint64_t> capacity_;
  std::atomic<std::uint64_t> used_ = 0;
};

class MemoryContents {
 public:
  explicit MemoryContents(std::shared_ptr<MemoryRoom> room) : room_(std::move(room)) {}
  ~MemoryContents();
  MemoryContents(const MemoryContents&) = delete;
  MemoryContents& operator=(const MemoryContents&) = delete;

  /// Writes all bytes or none. False: no capacity is left. The range must end within 2^63 - 1.
  [[nodiscard]] bool write(std::uint64_t offset, std::span<const std::string_view> pieces,
                           std::uint64_t total);
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<char> into) const;
  /// Grows the contents to `size` if they are smaller. False: no capacity is left. With `reserve`,
  /// later writes below `size` never fail for lack of capacity.
  [[nodiscard]] bool grow(std::uint64_t size, bool reserve);
  void shrink(std::uint64_t size);
  [[nodiscard]] std::uint64_t size() const;

 private:
  /// Memory pages from the system. They are zero at first, take no memory until they are written,
  /// and return to the system when the chunk is destroyed.
  class Chunk {
   public:
    /// `used`: the bytes of all files of the room.
    explicit Chunk(std::uint64_t used) noexcept;
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    ~Chunk();
    [[nodiscard]] char* data() const noexcept { return data_; }

   private:
    char* data_;  // null: the system had no memory
  };

  // Called under the exclusive lock.
  [[nodiscard]] bool charge(std::uint64_t size);
  [[nodiscard]] bool make_chunks(std::uint64_t first, std::uint64_t end);
  // Called under the shared lock.
  void copy_in(std::uint64_t offset, std::string_view bytes);

  std::shared_ptr<MemoryRoom> room_;
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Chunk> chunks_;
  std::uint64_t size_ = 0;
  std::uint64_t charged_ = 0;
};

}  // namespace tarry::storage
