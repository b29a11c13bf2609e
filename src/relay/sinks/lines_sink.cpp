#include "relay/sinks/lines_sink.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/assert.h"
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
    : fd_(fd),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      most_(most_at_once(fd)),
      on_broken_(std::move(on_broken)) {
  TARRY_ASSERT(stop_ >= 0);
  begin(1);
}

LinesSink::~LinesSink() {
  end();
  ::close(stop_);
}

void LinesSink::interrupt() {
  const std::uint64_t one = 1;
  // Cannot fail: the counter would have to reach 2^64.
  static_cast<void>(::write(stop_, &one, sizeof one));
}

/// False: it was closed. What is wrong with the descriptor, a write says.
bool LinesSink::wait_for_room() const {
  std::array<pollfd, 2> fds{{{fd_, POLLOUT, 0}, {stop_, POLLIN, 0}}};
  while (::poll(fds.data(), fds.size(), -1) < 0) TARRY_ASSERT(errno == EINTR || errno == ENOMEM);
  return fds[1].revents == 0;
}

Answer LinesSink::deliver(const Parcel& parcel) {
  const std::string line = json_line(parcel.delivery) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const bool begun = rest.size() < line.size();
    if (!wait_for_room()) {
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
