// FileMap: a file's bytes in this process's memory, for the kernel to copy from. Whoever touches
// them here dies of a disk that cannot be read (SIGBUS): hand them to a system call, which answers.
//
// Thread safety: FileMap is immutable; FileMaps as it says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tarry::storage {

class FileMap {
 public:
  /// `size` may be more than the file has. Null where it cannot be mapped.
  [[nodiscard]] static std::unique_ptr<FileMap> make(int fd, std::uint64_t size);
  ~FileMap();
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  [[nodiscard]] const char* bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  FileMap(char* bytes, std::uint64_t size) : bytes_(bytes), size_(size) {}

  char* bytes_;
  std::uint64_t size_;
};

/// The maps of one file: the last is of a power of two, so that a file which grows needs few. Any
/// thread; what it has answered stays until it is destroyed.
class FileMaps {
 public:
  /// The bytes from the file's start to `end` at least; null where it is shorter, or has no map.
  [[nodiscard]] const char* up_to(std::uint64_t end, int fd);
  /// The file has been cut: its last page goes on behind its end, as zeros.
  void renew() noexcept;

 private:
  std::atomic<std::uint64_t> size_{0};  // of the file, as far as is known; never more than mapped
  std::atomic<const char*> bytes_{nullptr};  // before size_ becomes more
  std::mutex mutex_;
  std::vector<std::unique_ptr<FileMap>> all_;
  bool none_ = false;  // it cannot be mapped
};

}  // namespace tarry::storage
