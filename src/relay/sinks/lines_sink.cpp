#include "relay/sinks/lines_sink.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "relay/message_text.h"

namespace tarry::relay {

LinesSink::LinesSink(int fd, std::function<void(Error)> on_broken)
    : fd_(fd), on_broken_(std::move(on_broken)) {
  begin(1);
}

LinesSink::~LinesSink() { end(); }

Answer LinesSink::deliver(const Parcel& parcel) {
  const std::string line = json_line(parcel.delivery) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t wrote = ::write(fd_, rest.data(), rest.size());
    if (wrote >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      const std::string reason = std::string("cannot write to stdout: ") + std::strerror(errno);
      on_broken_(Error{ErrorCode::io_error, reason});
      return rest.size() == line.size() ? sink_down(reason) : unknown(reason);
    }
  }
  return confirmed();
}

}  // namespace tarry::relay
