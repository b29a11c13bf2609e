#include "storage/posix_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "storage/failure.h"
#include "storage/file_size_signal.h"
#include "storage/piece_cursor.h"

namespace tarry::storage {

FileDescriptor::~FileDescriptor() {
  // The close is not repeated after EINTR: on Linux the descriptor is closed by then, and may
  // belong to another thread's file.
  if (fd_ >= 0) ::close(fd_);
}

Result<void> PosixFile::check_writable(std::string_view operation) const {
  if (writable_) return {};
  return failure(ErrorCode::misuse, operation, path_, "it was opened read-only");
}

Result<void> PosixFile::write_at(std::uint64_t offset, std::string_view bytes) {
  const std::array<std::string_view, 1> one{bytes};
  return write_at(offset, std::span<const std::string_view>(one));
}

Result<void> PosixFile::write_at(std::uint64_t offset, std::span<const std::string_view> pieces) {
  if (auto ok = check_writable("write"); !ok) return ok;
  std::uint64_t total = 0;
  for (const std::string_view piece : pieces) total += piece.size();
  if (auto ok = check_range("write", path_, offset, total); !ok) return ok;

  const NoFileSizeSignal quiet;
  std::array<iovec, IOV_MAX> vectors;
  for (PieceCursor cursor(pieces); !cursor.done();) {
    const int count = static_cast<int>(cursor.fill(vectors));
    const ssize_t taken = uninterrupted(
        [&] { return ::pwritev(fd_.get(), vectors.data(), count, static_cast<off_t>(offset)); });
    // If a system call took nothing and reported no error, this loop would never end.
    if (taken <= 0) return system_failure_at("write", path_, offset, taken < 0 ? errno : EIO);
    cursor.advance(static_cast<std::size_t>(taken));
    offset += static_cast<std::uint64_t>(taken);
  }
  return {};
}

Result<std::size_t> PosixFile::read_at(std::uint64_t offset, std::span<char> into) const {
  if (auto ok = check_range("read", path_, offset, into.size()); !ok) return ok.error();
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(fd_.get(), into.data() + done, into.size() - done,
                     static_cast<off_t>(offset + done));
    });
    if (got < 0) return system_failure_at("read", path_, offset + done, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<void> PosixFile::sync_data() {
  if (sync_failed_) {
    return failure(ErrorCode::io_error, "sync", path_, "an earlier sync of it failed");
  }
  if (uninterrupted([&] { return ::fdatasync(fd_.get()); }) == 0) return {};
  const int error_number = errno;
  sync_failed_ = true;
  return failure(ErrorCode::io_error, "sync", path_, text_of_errno(error_number));
}

Result<void> PosixFile::allocate(std::uint64_t size) {
  if (auto ok = check_writable("reserve room in"); !ok) return ok;
  if (auto ok = check_range("reserve room in", path_, 0, size); !ok) return ok;
  if (size == 0) return {};
  const auto before = this->size();
  if (!before) return before.error();

  Result<void> outcome;
  if (const int error_number = reserve(size); error_number != 0) {
    outcome = error_number == EOPNOTSUPP || error_number == ENOSYS
                  ? reserve_by_writing(*this, size)
                  : system_failure_at("reserve room in", path_, size, error_number);
  }
  // Frees a partial allocation, because a full disk needs the space elsewhere. If this fails too,
  // nothing changes for the caller.
  if (!outcome) static_cast<void>(truncate(*before));
  return outcome;
}

/// 0, or an errno value.
int PosixFile::reserve(std::uint64_t size) {
  // If it cannot fit, do not even try: fallocate takes all free room before it fails, and other
  // writers on that disk would fail meanwhile.
  struct stat status{};
  Space space{};
  if (::fstat(fd_.get(), &status) == 0 && read_space(fd_.get(), space) == 0) {
    const std::uint64_t taken = static_cast<std::uint64_t>(status.st_blocks) * 512;
    if (size > taken && size - taken > space.free_bytes) return ENOSPC;
  }
  const NoFileSizeSignal quiet;
  const auto length = static_cast<off_t>(size);
  return uninterrupted([&] { return ::fallocate(fd_.get(), 0, 0, length); }) == 0 ? 0 : errno;
}

Result<void> PosixFile::truncate(std::uint64_t size) {
  if (auto ok = check_writable("truncate"); !ok) return ok;
  if (auto ok = check_range("truncate", path_, size, 0); !ok) return ok;
  const NoFileSizeSignal quiet;
  if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) == 0) {
    maps_.renew();
    return {};
  }
  return system_failure_at("truncate", path_, size, errno);
}

Result<std::uint64_t> PosixFile::size() const {
  struct stat status{};
  if (::fstat(fd_.get(), &status) != 0) return system_failure("stat", path_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

Result<bool> PosixFile::is_shared() const {
  struct stat status{};
  if (::fstat(fd_.get(), &status) != 0) return system_failure("stat", path_, errno);
  return status.st_nlink > 1;
}

bool PosixFile::has_name() const {
  struct stat status{};
  return ::fstat(fd_.get(), &status) != 0 || status.st_nlink > 0;
}

void PosixFile::will_need(std::uint64_t offset, std::uint64_t length) const {
  if (offset > INT64_MAX || length > INT64_MAX) return;
  static_cast<void>(::posix_fadvise(fd_.get(), static_cast<off_t>(offset),
                                    static_cast<off_t>(length), POSIX_FADV_WILLNEED));
}

int read_space(int fd, Space& into) {
  struct statvfs status{};
  if (uninterrupted([&] { return ::fstatvfs(fd, &status); }) != 0) return errno;
  const std::uint64_t unit = status.f_frsize;
  into = status.f_blocks == 0 ? Space{UINT64_MAX, UINT64_MAX}
                              : Space{status.f_bavail * unit, status.f_blocks * unit};
  return 0;
}

Result<void> reserve_by_writing(File& file, std::uint64_t size) {
  const auto old_size = file.size();
  if (!old_size) return old_size.error();

  // Below the end, bytes that read as zeros may be a gap. A gap cannot be smaller than this unit.
  constexpr std::uint64_t kUnit = 512;
  constexpr std::array<char, kUnit> kZeroUnit{};
  std::array<char, kUnit> unit;
  for (std::uint64_t at = 0; at < std::min(*old_size, size); at += kUnit) {
    const auto got = file.read_at(at, unit);
    if (!got) return got.error();
    const std::string_view zeros(kZeroUnit.data(), *got);
    if (std::string_view(unit.data(), *got) != zeros) continue;
    if (auto ok = file.write_at(at, zeros); !ok) return ok;
  }

  constexpr std::uint64_t kBlock = 65536;
  const std::string block(kBlock, '\0');
  for (std::uint64_t at = *old_size; at < size;) {
    const auto length = static_cast<std::size_t>(std::min(kBlock, size - at));
    if (auto ok = file.write_at(at, std::string_view(block.data(), length)); !ok) return ok;
    at += length;
  }
  return {};
}

}  // namespace tarry::storage
