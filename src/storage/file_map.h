// FileMap: a file's bytes mapped into this process's memory, so that the kernel can copy from them.
// Never read them directly: a disk error would kill the process (SIGBUS). Pass them to a system
// call; on a disk error only that call fails.
//
// Thread safety: a FileMap is immutable; for FileMaps see there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tarry::storage {

class FileMap {
 public:
  /// `size` may exceed the file's size. Null if the file cannot be mapped.
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

/// The maps of one file. The size of the last map is a power of two, so that a growing file needs
/// few maps. Any thread may use it. The addresses that it returns are valid until it is destroyed.
class FileMaps {
 public:
  /// The address of the file's first byte; the bytes up to `end` at least are mapped. Null if the
  /// file is shorter, or cannot be mapped.
  [[nodiscard]] const char* up_to(std::uint64_t end, int fd);
  /// Call `renew` when the file was cut, because the last page then has zeros after the new end.
  void renew() noexcept;

 private:
  std::atomic<std::uint64_t> size_{0};  // of the file, as far as it is known; never more than is
                                        // mapped
  std::atomic<const char*> bytes_{nullptr};  // set before size_ grows
  std::mutex mutex_;
  std::vector<std::unique_ptr<FileMap>> all_;
  bool none_ = false;  // the file cannot be mapped
};

}  // namespace tarry::storage
