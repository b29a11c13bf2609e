#include "storage/file_map.h"

#include <sys/mman.h>
#include <sys/stat.h>

namespace tarry::storage {

std::unique_ptr<FileMap> FileMap::make(int fd, std::uint64_t size) {
  if (size == 0 || size > SIZE_MAX) return nullptr;
  void* const mapped =
      ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // A page that is missing is one page of a record: what lies around it is not asked for.
  static_cast<void>(::madvise(mapped, static_cast<std::size_t>(size), MADV_RANDOM));
  return std::unique_ptr<FileMap>(new FileMap(static_cast<char*>(mapped), size));
}

FileMap::~FileMap() { ::munmap(bytes_, static_cast<std::size_t>(size_)); }

const char* FileMaps::up_to(std::uint64_t end, int fd) {
  const FileMap* newest = newest_.load(std::memory_order_acquire);
  if (newest != nullptr && end <= newest->size()) return newest->bytes();
  const std::scoped_lock lock(mutex_);
  struct stat status{};
  if (none_ || ::fstat(fd, &status) != 0) return nullptr;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (end > size) return nullptr;
  auto made = FileMap::make(fd, size);
  none_ = made == nullptr;
  if (none_) return nullptr;
  all_.push_back(std::move(made));
  newest_.store(all_.back().get(), std::memory_order_release);
  return all_.back()->bytes();
}

}  // namespace tarry::storage
