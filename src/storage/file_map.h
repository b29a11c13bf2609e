// FileMap: a file's bytes in this process's memory, for the kernel to copy from. Never read them
// directly: a disk error would kill the process (SIGBUS). Pass them to a system call, which fails.
//
// Thread safety: FileMap is immutable; see FileMaps for the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tarry::storage {

class FileMap {
 public:
  /// `size` may be more than the file has. Null if it cannot be mapped.
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

/// The maps of one file. The size of the last one is a power of two, so that a growing file needs
/// few maps. Any thread; every address that it returned is valid until it is destroyed.
class FileMaps {
 public:
  /// The bytes from the file's start to at least `end`; null if it is shorter, or has no map.
  [[nodiscard]] const char* up_to(std::uint64_t end, int fd);
  /// Tells it that the file was cut: its last page continues with zeros after the end.
  void renew() noexcept;

 private:
  std::atomic<std::uint64_t> size_{0};  // of the file, as far as is known; never more than mapped
  std::atomic<const char*> bytes_{nullptr};  // before size_ becomes more
  std::mutex mutex_;
  std::vector<std::unique_ptr<FileMap>> all_;
  bool none_ = false;  // it cannot be mapped
};

}  // namespace tarry::storage
