// One open POSIX file as a storage::File, and the owner of its descriptor.
//
// Thread safety: for PosixFile see storage::File; FileDescriptor has none.
#pragma once

#include <cerrno>
#include <string>
#include <utility>

#include "storage/file_map.h"
#include "storage/storage.h"

namespace tarry::storage {

/// Owns a descriptor; closes it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  /// Returns the descriptor, which the caller must then close.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// Repeats `call` while a signal interrupts it.
template <typename Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

class PosixFile final : public File {
 public:
  PosixFile(FileDescriptor fd, std::string path, bool writable)
      : fd_(std::move(fd)), path_(std::move(path)), writable_(writable) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override;
  Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) override;
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override;
  Result<void> sync_data() override;
  Result<void> allocate(std::uint64_t size) override;
  Result<void> truncate(std::uint64_t size) override;
  Result<std::uint64_t> size() const override;
  Result<bool> is_shared() const override;
  [[nodiscard]] bool has_name() const override;
  void will_need(std::uint64_t offset, std::uint64_t length) const override;

  [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }
  /// The mapped file, at least up to `end`, for the kernel to copy from (see FileMap). Null if the
  /// file is shorter, or cannot be mapped.
  [[nodiscard]] const char* mapped(std::uint64_t end) const { return maps_.up_to(end, fd_.get()); }

 private:
  Result<void> check_writable(std::string_view operation) const;
  int reserve(std::uint64_t size);

  FileDescriptor fd_;
  std::string path_;
  bool writable_;
  bool sync_failed_ = false;
  mutable FileMaps maps_;
};

/// Reads the space of the file system by statvfs. Both figures are UINT64_MAX for a file system
/// without a limit (some in RAM). Returns 0, or an errno value.
[[nodiscard]] int read_space(int fd, Space& into);

/// allocate() for file systems that cannot reserve space: writes zeros into the gaps of `file`, and
/// from its end up to `size`. Below the end it writes only where it has read zeros, so no data is
/// at risk.
[[nodiscard]] Result<void> reserve_by_writing(File& file, std::uint64_t size);

}  // namespace tarry::storage
