#include "app/system/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tarry::app {
namespace {

Error cannot_be_written(const std::string& path, std::string_view why,
                        ErrorCode code = ErrorCode::io_error) {
  return {code, fmt::format("{} cannot be written: {}", base::quoted(path), why)};
}

Error failed_to_write(const std::string& path, int why) {
  const bool full = why == ENOSPC || why == EDQUOT;
  return cannot_be_written(path, std::strerror(why),
                           full ? ErrorCode::no_space : ErrorCode::io_error);
}

enum class Node { replaced, written };

/// The kind of the file at `path`. Links are followed, because `/dev/stdout` is one.
Result<Node> node_at(const std::string& path) {
  const auto refused = [&](std::string_view why) -> Result<Node> {
    return cannot_be_written(path, why, ErrorCode::invalid_argument);
  };
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return Node::replaced;
    return refused(std::strerror(errno));
  }
  if (S_ISREG(status.st_mode)) return Node::replaced;
  const bool is_link = S_ISLNK(status.st_mode);
  if (is_link && ::stat(path.c_str(), &status) != 0) return refused("it is a link to nothing");
  if (S_ISREG(status.st_mode)) return refused("it is a link to a file; name the file itself");
  if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) return Node::written;
  return refused(S_ISDIR(status.st_mode) ? "it is a directory"
                                         : "it is not a file, a FIFO or a character device");
}

/// Writes the text and closes the file. Returns 0, or the errno value of the failure.
int write_and_close(int fd, std::string_view text) {
  int wrong = 0;
  while (!text.empty() && wrong == 0) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      wrong = errno;
    }
  }
  if (::close(fd) != 0 && wrong == 0) wrong = errno;
  return wrong;
}

Result<void> write_to_node(const std::string& path, std::string_view text) {
  // O_NONBLOCK, because a FIFO without a reader would block for ever.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && errno == ENXIO) return cannot_be_written(path, "no process has it open to read");
  if (fd < 0) return failed_to_write(path, errno);
  const int wrong = write_and_close(fd, text);
  if (wrong != 0) return failed_to_write(path, wrong);
  return {};
}

/// Opens a new file. An existing file or link of another user is never opened.
int open_draft(const std::string& draft) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int fd = ::open(draft.c_str(), kFlags, 0666);
  if (fd >= 0 || errno != EEXIST || ::unlink(draft.c_str()) != 0) return fd;
  return ::open(draft.c_str(), kFlags, 0666);
}

}  // namespace

Result<void> check_replaceable(const std::string& path) {
  const auto node = node_at(path);
  if (!node) return node.error();
  return {};
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  const auto node = node_at(path);
  if (!node) return node.error();
  if (*node == Node::written) return write_to_node(path, text);
  const std::string draft = fmt::format("{}.{}", path, ::getpid());
  const int fd = open_draft(draft);
  if (fd < 0) return failed_to_write(path, errno);
  int wrong = write_and_close(fd, text);
  if (wrong == 0 && std::rename(draft.c_str(), path.c_str()) != 0) wrong = errno;
  if (wrong == 0) return {};
  ::unlink(draft.c_str());
  return failed_to_write(path, wrong);
}

}  // namespace tarry::app
