// The file seam in RAM: the disk of `memory:`, and a fast disk for tests.
//
// Thread safety: as the seam says; a MemoryDisk may be used from any thread.
//  1. Contents live in 1 MiB chunks, allocated at the first write, freed when the file is cut, or
//     when it is removed and nothing has it open: a file is never moved to grow.
//  2. A file takes its size rounded up to 4 KiB from the capacity, gaps too. So allocate() reserves
//     by growing and by allocating the chunks; a write below the file's size then never fails with
//     no_space. If the system has no more memory, or no address space (`ulimit -v`), this counts as
//     a full disk, some way before the process itself runs out.
//  3. Names, directories and locks take nothing.
//  4. sync_data() and sync() do nothing: nothing here outlives the process.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/storage.h"

namespace tarry::storage {

/// A disk in RAM that outlives the directories opened on it, so that a test can close an engine
/// and open it again on the same contents. Its contents live until it and everything opened
/// through it are destroyed.
class MemoryDisk {
 public:
  explicit MemoryDisk(std::uint64_t capacity_bytes = UINT64_MAX);
  ~MemoryDisk();
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  /// The root directory; every call gives another handle on the same one.
  [[nodiscard]] std::unique_ptr<Directory> root() const;

  /// May be set below the used bytes: then the disk is full until enough is freed.
  void set_capacity(std::uint64_t capacity_bytes);

  [[nodiscard]] std::uint64_t used_bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The root of a new disk of its own.
[[nodiscard]] std::unique_ptr<Directory> memory_directory(
    std::uint64_t capacity_bytes = UINT64_MAX);

}  // namespace tarry::storage
