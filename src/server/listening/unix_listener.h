// UnixListener: a unix socket that listens at a path, and its file. The file is accessible to its
// owner only (mode 0600). The destructor removes the file if it is still the one that `listen`
// made.
//
// Not thread safe.
#pragma once

#include <sys/types.h>

#include <string>

#include <tarry/result.h>

namespace tarry::listening {

class UnixListener {
 public:
  UnixListener() = default;
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;
  ~UnixListener() { remove(); }

  /// Checks whether `listen` would succeed now, and changes nothing. So a program learns that it
  /// would not before it makes or opens anything. Errors: those of `listen`.
  [[nodiscard]] static Result<void> check(const std::string& path);

  /// Returns the descriptor, which the caller must close. Replaces a socket file at which nobody
  /// listens. Errors: `invalid_argument` for a path of more than 107 bytes, `conflict` if a server
  /// listens there or the file is of another type, `permission_denied`, `io_error`.
  [[nodiscard]] Result<int> listen(const std::string& path);
  void remove() noexcept;

 private:
  std::string path_;  // empty: no file was made
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace tarry::listening
