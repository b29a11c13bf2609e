#include "app/transfer/draft_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "app/system/line_reader.h"
#include "app/transfer/push_line.h"
#include "base/text/text.h"

namespace tarry::app::transfer {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16;

Error failure(std::string_view doing, const std::string& path, int why) {
  ErrorCode code = ErrorCode::io_error;
  if (why == ENOSPC || why == EDQUOT) code = ErrorCode::no_space;
  if (why == EEXIST) code = ErrorCode::conflict;
  if (why == EACCES || why == EPERM || why == EROFS) code = ErrorCode::permission_denied;
  if (why == ENOENT || why == ENOTDIR) code = ErrorCode::invalid_argument;
  return {code,
          fmt::format("cannot {} {}: {}", doing,
                      path == "-" ? "standard output" : base::quoted(path), std::strerror(why))};
}

}  // namespace

DraftFile::~DraftFile() {
  if (!is_file() || fd_ < 0) return;
  if (!kept_) ::unlink(draft().c_str());
  ::close(fd_);
}

Result<void> DraftFile::open() {
  if (!is_file()) {
    fd_ = STDOUT_FILENO;
    return {};
  }
  if (::access(path_.c_str(), F_OK) == 0) {
    return Unexpected(
        ErrorCode::conflict,
        fmt::format("{} exists already; remove it, or name another file", base::quoted(path_)));
  }
  // Only for the owner, because a store's contents may be private.
  constexpr mode_t kOwnerOnly = 0600;
  const int fd = ::open(draft().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
  if (fd < 0) return failure("write", path_, errno);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    ::close(fd);
    if (why != EWOULDBLOCK) return failure("lock", draft(), why);
    return Unexpected(ErrorCode::conflict, "another process is writing " + base::quoted(draft()));
  }
  fd_ = fd;
  return {};
}

Result<std::uint64_t> DraftFile::size() const {
  struct stat status{};
  if (::fstat(fd_, &status) != 0) return failure("read", draft(), errno);
  return static_cast<std::uint64_t>(status.st_size);
}

Result<void> DraftFile::go_on(std::uint64_t bytes) {
  if (!is_file()) return {};
  const auto length = static_cast<off_t>(bytes);
  if (::ftruncate(fd_, length) != 0 || ::lseek(fd_, length, SEEK_SET) < 0) {
    return failure("write", draft(), errno);
  }
  written_ = bytes;
  return {};
}

Result<void> DraftFile::read_lines(
    const std::function<Result<void>(std::string_view line)>& visit) const {
  // A descriptor with a position of its own.
  const int fd = ::open(draft().c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failure("read", draft(), errno);
  LineReader reader(fd, kLongestLine, stop_);
  std::string_view line;
  Result<bool> more = true;
  Result<void> visited;
  for (more = reader.next(line); more && *more && visited; more = reader.next(line)) {
    visited = visit(line);
  }
  ::close(fd);
  return more ? visited : more.error();
}

Result<void> DraftFile::write_line(std::string_view line) {
  buffer_ += line;
  buffer_ += '\n';
  return buffer_.size() < kBuffer ? Result<void>() : write_out();
}

Result<void> DraftFile::write_out() {
  // A pipe that reports room takes PIPE_BUF bytes without blocking; more might block again.
  const std::size_t most = is_file() || stop_ == nullptr ? buffer_.size() : PIPE_BUF;
  for (std::size_t at = 0; at < buffer_.size();) {
    if (!is_file() && stop_ != nullptr && !stop_->wait_for(fd_, POLLOUT)) {
      return Unexpected(ErrorCode::closed, "stopped while waiting for the reader of its output");
    }
    const ssize_t wrote = ::write(fd_, buffer_.data() + at, std::min(most, buffer_.size() - at));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failure("write", path_, errno);
    at += static_cast<std::size_t>(wrote);
  }
  written_ += buffer_.size();
  buffer_.clear();
  return {};
}

Result<std::uint64_t> DraftFile::keep() {
  if (auto done = write_out(); !done) return done.error();
  if (::fdatasync(fd_) != 0) return failure("sync", draft(), errno);
  kept_ = true;
  return written_;
}

Result<void> DraftFile::publish() {
  if (auto done = write_out(); !done || !is_file()) return done;
  if (::fsync(fd_) != 0) return failure("sync", path_, errno);
  // link, because rename would overwrite a file that has appeared there meanwhile.
  if (::link(draft().c_str(), path_.c_str()) != 0) return failure("write", path_, errno);
  kept_ = false;
  return {};
}

}  // namespace tarry::app::transfer
