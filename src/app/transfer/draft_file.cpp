#include "app/transfer/draft_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/text.h"

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
          fmt::format("{} {}: {}", doing, path == "-" ? "standard output" : base::quoted(path),
                      std::strerror(why))};
}

}  // namespace

DraftFile::~DraftFile() {
  if (!is_file() || fd_ < 0) return;
  ::close(fd_);
  ::unlink(draft_.c_str());
}

Result<void> DraftFile::open() {
  if (!is_file()) {
    fd_ = STDOUT_FILENO;
    return {};
  }
  if (::access(path_.c_str(), F_OK) == 0) return failure("write", path_, EEXIST);
  draft_ = fmt::format("{}.part.{}", path_, ::getpid());
  constexpr mode_t kOwnerOnly = 0600;  // what is in a store may be nobody else's business
  fd_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly);
  if (fd_ < 0) return failure("write", path_, errno);
  return {};
}

Result<void> DraftFile::write_line(std::string_view line) {
  buffer_ += line;
  buffer_ += '\n';
  return buffer_.size() < kBuffer ? Result<void>() : write_out();
}

Result<void> DraftFile::write_out() {
  for (std::size_t at = 0; at < buffer_.size();) {
    const ssize_t wrote = ::write(fd_, buffer_.data() + at, buffer_.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failure("write", path_, errno);
    at += static_cast<std::size_t>(wrote);
  }
  buffer_.clear();
  return {};
}

Result<void> DraftFile::publish() {
  if (auto done = write_out(); !done || !is_file()) return done;
  if (::fsync(fd_) != 0) return failure("sync", path_, errno);
  // link, not rename: a file that has come there meanwhile is not overwritten.
  if (::link(draft_.c_str(), path_.c_str()) != 0) return failure("write", path_, errno);
  return {};
}

}  // namespace tarry::app::transfer
