#include "base/secrets/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text/text.h"

namespace tarry::base {
namespace {

class OpenFile {
 public:
  // A FIFO without a writer would block for ever.
  explicit OpenFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

/// Reads up to the end, or `most` bytes.
bool read_beginning(int fd, std::size_t most, std::string& text) {
  text.resize(most);
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return true;
}

Error wrong_file(const std::string& file, const std::string& why) {
  return {ErrorCode::invalid_argument, file + why};
}

/// `file`: the file's name in errors.
Result<std::string> read_checked(const std::string& file, const std::string& path,
                                 std::size_t most) {
  const OpenFile open(path);
  struct stat status{};
  if (open.fd() < 0 || ::fstat(open.fd(), &status) != 0) {
    return wrong_file(file, std::string(" cannot be read: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return wrong_file(file, " cannot be read: it is not a regular file");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return wrong_file(file, " can be written by other users: chmod go-w " + path);
  }
  std::string text;
  if (read_beginning(open.fd(), most, text)) return text;
  return wrong_file(file, std::string(" cannot be read: ") + std::strerror(errno));
}

}  // namespace

Result<std::string> read_secret(std::string_view named_by, const std::string& path) {
  const std::string file = std::string(named_by) + " " + quoted(path);
  const auto text = read_checked(file, path, kMaxSecretLine + 2);
  if (!text) return text;
  const std::size_t end = text->find('\n');
  std::string line = text->substr(0, end);
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) return wrong_file(file, ": its first line is empty");
  if (line.size() > kMaxSecretLine || (end == std::string::npos && text->size() > kMaxSecretLine)) {
    return wrong_file(file,
                      ": its first line is over " + std::to_string(kMaxSecretLine) + " bytes");
  }
  return line;
}

Result<std::string> read_secret_text(std::string_view named_by, const std::string& path,
                                     std::size_t most) {
  const std::string file = std::string(named_by) + " " + quoted(path, path.size());
  auto text = read_checked(file, path, most + 1);
  if (!text || text->size() <= most) return text;
  return wrong_file(file, " is over the limit of " + std::to_string(most) + " bytes");
}

bool is_readable_by_all(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

}  // namespace tarry::base
