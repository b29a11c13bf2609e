#include "storage/file_map.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>

namespace tarry::storage {
namespace {
constexpr std::uint64_t kLeast = 1 << 20;
}

std::unique_ptr<FileMap> FileMap::make(int fd, std::uint64_t size) {
  if (size == 0 || size > SIZE_MAX) return nullptr;
  void* const mapped =
      ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // Each missing page is usually read for one record, so the kernel need not read its neighbours.
  static_cast<void>(::madvise(mapped, static_cast<std::size_t>(size), MADV_RANDOM));
  return std::unique_ptr<FileMap>(new FileMap(static_cast<char*>(mapped), size));
}

FileMap::~FileMap() { ::munmap(bytes_, static_cast<std::size_t>(size_)); }

const char* FileMaps::up_to(std::uint64_t end, int fd) {
  if (end <= size_.load(std::memory_order_acquire)) return bytes_.load(std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  struct stat status{};
  if (none_ || ::fstat(fd, &status) != 0) return nullptr;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (end > size) return nullptr;
  if (all_.empty() || all_.back()->size() < size) {
    auto made = FileMap::make(fd, std::bit_ceil(std::max(size, kLeast)));
    none_ = made == nullptr;
    if (none_) return nullptr;
    all_.push_back(std::move(made));
    bytes_.store(all_.back()->bytes(), std::memory_order_relaxed);
  }
  size_.store(size, std::memory_order_release);
  return all_.back()->bytes();
}

void FileMaps::renew() noexcept {
  const std::scoped_lock lock(mutex_);
  size_.store(0, std::memory_order_release);
}

}  // namespace tarry::storage
