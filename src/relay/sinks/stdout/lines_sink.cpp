#include "relay/sinks/stdout/lines_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <utility>

#include "relay/message_text.h"

namespace tarry::relay {
namespace {

/// The most bytes of one write. The descriptor cannot be made non-blocking, because other processes
/// may share it. A pipe that reports room takes PIPE_BUF bytes without blocking; a file never
/// blocks.
std::size_t most_at_once(int fd) {
  struct stat status{};
  const bool is_file = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? SSIZE_MAX : PIPE_BUF;
}

/// For a file: true if the byte before the next write is not an end of line, or cannot be read.
bool left_in_a_line(int fd, off_t size) {
  const bool at_end = (::fcntl(fd, F_GETFL) & O_APPEND) != 0;
  const off_t at = at_end ? size : std::min(size, ::lseek(fd, 0, SEEK_CUR));
  if (at <= 0) return false;
  // `fd` may be open for writing only.
  const int reading = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
  if (reading < 0) return true;
  char last = 0;
  const bool ended = ::pread(reading, &last, 1, at - 1) == 1 && last == '\n';
  ::close(reading);
  return !ended;
}

/// Whether the output may end with half a line, because a former writer was stopped or its disk was
/// full. For a pipe this is never known. For a terminal it does not matter: the user sees it.
bool may_be_in_a_line(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return false;
  if (S_ISREG(status.st_mode)) return left_in_a_line(fd, status.st_size);
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

}  // namespace

LinesSink::LinesSink(int fd, std::function<void(Error)> on_broken)
    : fd_(fd),
      most_(most_at_once(fd)),
      on_broken_(std::move(on_broken)),
      in_a_line_(may_be_in_a_line(fd)) {
  begin(1);
}

Answer LinesSink::deliver(const Outgoing& outgoing) {
  const std::string line = (in_a_line_ ? "\n" : "") + json_line(outgoing.delivery) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const bool begun = rest.size() < line.size();
    if (!stop_.wait_for(fd_, POLLOUT)) {
      constexpr const char* kStopped = "the relay has stopped";
      return begun ? unknown(kStopped) : sink_down(kStopped);
    }
    if (!begun && outgoing.is_late()) return too_late();
    const ssize_t wrote = ::write(fd_, rest.data(), std::min(rest.size(), most_));
    if (wrote >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(wrote));
      in_a_line_ = !rest.empty();
    } else if (errno != EINTR && errno != EAGAIN) {
      const std::string reason = std::string("cannot write to stdout: ") + std::strerror(errno);
      on_broken_(Error{ErrorCode::io_error, reason});
      return begun ? unknown(reason) : sink_down(reason);
    }
  }
  return confirmed();
}

}  // namespace tarry::relay
