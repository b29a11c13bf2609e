#include "app/system/private_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "app/system/line_reader.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

class Owned {
 public:
  explicit Owned(int fd) : fd_(fd) {}
  ~Owned() {
    if (fd_ >= 0) ::close(fd_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

Error cannot(const std::string& path, const std::string& why, ErrorCode code) {
  return {code, fmt::format("{} cannot be changed: {}", base::quoted(path, path.size()), why)};
}

Error cannot(const std::string& path, int why) {
  ErrorCode code = ErrorCode::io_error;
  if (why == EACCES || why == EPERM || why == EROFS) code = ErrorCode::permission_denied;
  if (why == ENOSPC || why == EDQUOT) code = ErrorCode::no_space;
  return cannot(path, std::strerror(why), code);
}

struct Found {
  std::optional<struct stat> status;  // empty: there is no file
  std::string text;
};

Result<Found> find(const std::string& path, std::size_t most) {
  Found found;
  const Owned file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.fd() < 0 && errno == ENOENT) return found;
  if (file.fd() < 0 && errno == ELOOP) {
    return cannot(path, "it is a link; name the file itself", ErrorCode::invalid_argument);
  }
  struct stat status{};
  if (file.fd() < 0 || ::fstat(file.fd(), &status) != 0) return cannot(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return cannot(path, "it is not a regular file", ErrorCode::invalid_argument);
  }
  auto text = read_all(file.fd(), most);
  if (!text) return cannot(path, text.error().message, ErrorCode::invalid_argument);
  found.status = status;
  found.text = *std::move(text);
  return found;
}

/// 0, or the errno value of the failure.
int write_synced(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return errno;
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return ::fsync(fd) != 0 ? errno : 0;
}

int make_draft(const std::string& draft, const Found& found, std::string_view text) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  constexpr mode_t kOwnersAlone = 0600;
  ::unlink(draft.c_str());  // of a process of the same number that crashed
  const Owned file(::open(draft.c_str(), kFlags, kOwnersAlone));
  if (file.fd() < 0) return errno;
  if (found.status) {
    // The owner comes first: a change of owner may clear bits of the mode.
    if (::fchown(file.fd(), found.status->st_uid, found.status->st_gid) != 0) return errno;
    if (::fchmod(file.fd(), found.status->st_mode & 07777) != 0) return errno;
  }
  return write_synced(file.fd(), text);
}

}  // namespace

Result<void> change_private_file(
    const std::string& path, std::size_t most,
    const std::function<Result<std::string>(std::string text)>& change) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const Owned directory(
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.fd() < 0 || ::flock(directory.fd(), LOCK_EX) != 0) return cannot(path, errno);
  auto found = find(path, most);
  if (!found) return std::move(found).error();
  const auto text = change(std::move(found->text));
  if (!text) return text.error();
  const std::string draft = fmt::format("{}.{}", path, ::getpid());
  int wrong = make_draft(draft, *found, *text);
  if (wrong == 0 && std::rename(draft.c_str(), path.c_str()) != 0) wrong = errno;
  if (wrong == 0 && ::fsync(directory.fd()) != 0) wrong = errno;
  if (wrong == 0) return {};
  ::unlink(draft.c_str());
  return cannot(path, wrong);
}

}  // namespace tarry::app
