#include "server/audit/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text/text.h"

namespace tarry::audit {
namespace {

Error refused(std::string_view named_by, const std::string& path, std::string_view why) {
  return {ErrorCode::invalid_argument,
          std::string(named_by) + " " + base::quoted(path, path.size()) + ": " + std::string(why)};
}

/// Whether the last byte of the file is not the end of a line.
bool ends_within_a_line(int fd, off_t size) noexcept {
  char last = '\n';
  return size > 0 && ::pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

Result<std::unique_ptr<File>> File::open(std::string_view named_by, const std::string& path) {
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  constexpr mode_t kOwnersAlone = 0600;
  const int fd = ::open(path.c_str(), kFlags, kOwnersAlone);
  if (fd < 0) return refused(named_by, path, std::strerror(errno));
  auto file = std::make_unique<File>(fd, false);
  struct stat status{};
  if (::fstat(fd, &status) != 0) return refused(named_by, path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return refused(named_by, path, "it is not a regular file");
  file->is_cut_ = ends_within_a_line(fd, status.st_size);
  return file;
}

File::~File() { ::close(fd_); }

Result<void> File::append(std::string_view lines) {
  static constexpr std::string_view kEnd = "\n";
  std::string_view first = is_cut_ ? kEnd : std::string_view();
  while (!first.empty() || !lines.empty()) {
    // writev does not change what it is given.
    const std::array<iovec, 2> pieces{iovec{const_cast<char*>(first.data()), first.size()},
                                      iovec{const_cast<char*>(lines.data()), lines.size()}};
    const ssize_t wrote = ::writev(fd_, pieces.data(), static_cast<int>(pieces.size()));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int why = wrote < 0 ? errno : EIO;
      const bool full = why == ENOSPC || why == EDQUOT || why == EFBIG;
      return Error{full ? ErrorCode::no_space : ErrorCode::io_error, std::strerror(why)};
    }
    auto size = static_cast<std::size_t>(wrote);
    const std::size_t of_first = std::min(size, first.size());
    first.remove_prefix(of_first);
    size -= of_first;
    if (size > 0) is_cut_ = lines[size - 1] != '\n';
    if (size == 0 && of_first > 0) is_cut_ = false;
    lines.remove_prefix(size);
  }
  return {};
}

}  // namespace tarry::audit
