#include "server/listening/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/text/text.h"

namespace tarry::listening {
namespace {

Error failed(const std::string& path, int error) {
  ErrorCode code = ErrorCode::io_error;
  if (error == EADDRINUSE) code = ErrorCode::conflict;
  if (error == EACCES || error == EPERM) code = ErrorCode::permission_denied;
  return {code, "cannot listen on " + path + ": " + std::generic_category().message(error)};
}

int open_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

const sockaddr* generic(const sockaddr_un& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) {
    return Unexpected(ErrorCode::invalid_argument,
                      "path " + base::quoted(path) +
                          " is too long for a socket: " + std::to_string(path.size()) +
                          " bytes, at most " + std::to_string(sizeof address.sun_path - 1));
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Whether nobody listens at the socket file, because its server has died.
Result<bool> is_left_over(const std::string& path, const sockaddr_un& address) {
  struct stat file{};
  if (::lstat(path.c_str(), &file) != 0) return false;
  if (!S_ISSOCK(file.st_mode)) {
    return Unexpected(ErrorCode::conflict,
                      "cannot listen on " + path + ": something stands there that is no socket");
  }
  const int probe = open_socket();
  if (probe < 0) return failed(path, errno);
  const bool refused =
      ::connect(probe, generic(address), sizeof address) != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return refused;
}

}  // namespace

Result<void> UnixListener::check(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return address.error();
  auto left_over = is_left_over(path, *address);
  if (!left_over) return std::move(left_over).error();
  struct stat file{};
  if (!*left_over && ::lstat(path.c_str(), &file) == 0) return failed(path, EADDRINUSE);
  if (::access(directory_of(path).c_str(), W_OK | X_OK) != 0) return failed(path, errno);
  return {};
}

Result<int> UnixListener::listen(const std::string& path) {
  const auto found = address_of(path);
  if (!found) return found.error();
  const sockaddr_un& address = *found;
  auto left_over = is_left_over(path, address);
  if (!left_over) return std::move(left_over).error();
  if (*left_over) ::unlink(path.c_str());

  const int socket = open_socket();
  if (socket < 0) return failed(path, errno);
  // The file gets the socket's mode when it is made, so it is never accessible to others.
  struct stat file{};
  if (::fchmod(socket, S_IRUSR | S_IWUSR) != 0 ||
      ::bind(socket, generic(address), sizeof address) != 0 || ::lstat(path.c_str(), &file) != 0 ||
      ::listen(socket, SOMAXCONN) != 0) {
    const int error = errno;
    ::close(socket);
    return failed(path, error);
  }
  path_ = path;
  device_ = file.st_dev;
  inode_ = file.st_ino;
  return socket;
}

void UnixListener::remove() noexcept {
  if (path_.empty()) return;
  struct stat file{};
  if (::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
  path_.clear();
}

}  // namespace tarry::listening
