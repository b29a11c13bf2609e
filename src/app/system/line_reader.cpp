#include "app/system/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/assert.h"

namespace tarry::app {
namespace {

constexpr std::size_t kChunk = 256 * 1024;

/// Appends up to kChunk bytes. Returns false at the end of the input.
Result<bool> read_some(int fd, std::string& into) {
  const std::size_t before = into.size();
  into.resize(before + kChunk);
  ssize_t got = 0;
  do {
    got = ::read(fd, into.data() + before, kChunk);
  } while (got < 0 && errno == EINTR);
  into.resize(before + static_cast<std::size_t>(got < 0 ? 0 : got));
  if (got < 0) {
    return Error{ErrorCode::io_error,
                 fmt::format("cannot read the input: {}", std::strerror(errno))};
  }
  return got > 0;
}

Error stopped() { return {ErrorCode::closed, "stopped while waiting for more input"}; }

}  // namespace

LineReader::LineReader(int fd, std::size_t longest, const base::StopEvent* stop)
    : fd_(fd), longest_(longest), stop_(stop) {}

Result<bool> LineReader::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t before = buffer_.size();
  if (stop_ != nullptr && !stop_->wait_for(fd_, POLLIN)) {
    return stopped();
  }
  auto more = read_some(fd_, buffer_);
  if (!more) return more;
  bytes_ += buffer_.size() - before;
  ended_ = !*more;
  return more;
}

Result<bool> LineReader::next(std::string_view& line) {
  too_long_ = false;
  std::size_t searched = at_;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end == std::string::npos && !ended_) {
      searched = buffer_.size() - at_;  // its position after fill() has moved the rest
      // The line may be one byte longer: a carriage return whose line feed has not been read yet.
      if (searched > longest_ + 1) {
        // The rest of a line that is too long is read and dropped, a chunk at a time.
        too_long_ = true;
        buffer_.resize(at_ + longest_);
        searched = longest_;
      }
      if (auto more = fill(); !more) return more;
      continue;
    }
    if (end == std::string::npos && at_ == buffer_.size()) return false;
    const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
    line = std::string_view(buffer_).substr(at_, stop - at_);
    at_ = end == std::string::npos ? stop : stop + 1;
    // If the line was cut above, a carriage return at its end belongs to the text.
    if (!too_long_ && line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > longest_) {
      line = line.substr(0, longest_);
      too_long_ = true;
    }
    unended_ = end == std::string::npos;
    ++number_;
    return true;
  }
}

Result<bool> LineReader::has_line_by(std::chrono::steady_clock::time_point end) {
  TARRY_ASSERT(stop_ != nullptr);
  std::size_t searched = at_;
  while (!ended_ && buffer_.find('\n', searched) == std::string::npos) {
    searched = buffer_.size() - at_;  // its position after fill() has moved the rest
    if (searched > longest_ + 1) return true;
    switch (stop_->wait_until(fd_, POLLIN, end)) {
      case base::StopEvent::Woken::too_late: return false;
      case base::StopEvent::Woken::stopped: return stopped();
      case base::StopEvent::Woken::ready: break;
    }
    if (auto more = fill(); !more) return more;
  }
  return true;
}

Result<std::string> read_all(int fd, std::size_t most) {
  std::string all;
  while (true) {
    auto more = read_some(fd, all);
    if (!more) return more.error();
    if (all.size() > most) {
      return Error{ErrorCode::too_large,
                   fmt::format("the payload from standard input is over {} bytes", most)};
    }
    if (!*more) return all;
  }
}

}  // namespace tarry::app
