// The file seam in RAM: the disk of `memory:`, and a fast disk for tests.
//
// Thread safety: see storage.h; a MemoryDisk may be used from any thread.
//  1. Contents are in chunks of 1 MiB, so a file is never moved to grow. A chunk is allocated at
//     its first write. It is freed when the file is cut, or when the file is removed and not open
//     any more.
//  2. A file takes its size, gaps included, rounded up to 4 KiB, from the capacity. So allocate()
//     takes the capacity by growing the file, and the memory by allocating its chunks. After that,
//     no write below the file's size fails with no_space. If the system has no more memory or
//     address space (`ulimit -v`), this counts as a full disk, while the process itself still has
//     some left.
//  3. Names, directories and locks take no capacity.
//  4. sync_data() and sync() do nothing: nothing here outlives the process.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/storage.h"

namespace tarry::storage {

/// A disk in RAM that outlives the directories opened on it, so that a test can close an engine and
/// open it again on the same contents. The contents live until the disk and everything opened
/// through it are destroyed.
class MemoryDisk {
 public:
  explicit MemoryDisk(std::uint64_t capacity_bytes = UINT64_MAX);
  ~MemoryDisk();
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  /// A handle of the root directory. Every call returns another handle of the same directory.
  [[nodiscard]] std::unique_ptr<Directory> root() const;

  /// May be set below the used bytes; the disk is then full until enough is freed.
  void set_capacity(std::uint64_t capacity_bytes);

  [[nodiscard]] std::uint64_t used_bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The root directory of a new disk.
[[nodiscard]] std::unique_ptr<Directory> memory_directory(
    std::uint64_t capacity_bytes = UINT64_MAX);

}  // namespace tarry::storage
