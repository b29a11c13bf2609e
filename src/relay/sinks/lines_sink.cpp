#include "relay/sinks/lines_sink.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "relay/message_text.h"

namespace tarry::relay {
namespace {

/// A descriptor that others share must not be switched to non-blocking. That much a pipe takes
/// without blocking once it says that there is room; a file never waits for a reader.
std::size_t most_at_once(int fd) {
  struct stat status{};
  const bool is_file = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? SSIZE_MAX : PIPE_BUF;
}

}  // namespace

LinesSink::LinesSink(int fd, std::function<void(Error)> on_broken)
    : fd_(fd), most_(most_at_once(fd)), on_broken_(std::move(on_broken)) {
  begin(1);
}

Answer LinesSink::deliver(const Parcel& parcel) {
  const std::string line = json_line(parcel.delivery) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const bool begun = rest.size() < line.size();
    if (!stop_.wait_for(fd_, POLLOUT)) {
      constexpr const char* kStopped = "the relay has stopped";
      return begun ? unknown(kStopped) : sink_down(kStopped);
    }
    if (!begun && parcel.is_late()) return too_late();
    const ssize_t wrote = ::write(fd_, rest.data(), std::min(rest.size(), most_));
    if (wrote >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR && errno != EAGAIN) {
      const std::string reason = std::string("cannot write to stdout: ") + std::strerror(errno);
      on_broken_(Error{ErrorCode::io_error, reason});
      return begun ? unknown(reason) : sink_down(reason);
    }
  }
  return confirmed();
}

}  // namespace tarry::relay
