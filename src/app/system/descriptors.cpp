#include "app/system/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tarry::app {

bool secure_standard_descriptors() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // Opened in the opposite direction, so that a write fails. Otherwise an answer would vanish in
    // /dev/null as if it had been printed.
    const int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    const int opened = ::open("/dev/null", flags);  // without O_CLOEXEC: commands need it too
    if (opened != fd) return false;
  }
  return true;
}

bool is_open_for_writing(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_PATH) == 0 && (flags & O_ACCMODE) != O_RDONLY;
}

std::optional<std::uint64_t> descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return limit.rlim_cur;
}

std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlimit raised = limit;
  raised.rlim_cur = raised.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

std::size_t connections_within(std::uint64_t limit, std::size_t wanted) noexcept {
  constexpr std::uint64_t kLeastReserve = 64;
  const std::uint64_t reserve = std::max(limit / 2, kLeastReserve);
  const std::uint64_t sockets = limit > reserve ? limit - reserve : 0;
  return std::clamp<std::uint64_t>(sockets / 5 * 4, 1, std::max<std::size_t>(wanted, 1));
}

}  // namespace tarry::app
