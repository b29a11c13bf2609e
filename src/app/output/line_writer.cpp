#include "app/output/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/threads/thread.h"

namespace tarry::app {

// Writes without blocking. The descriptor itself is not made non-blocking, because other processes
// may share it: a pipe or a terminal is opened a second time for that.
class LineWriter::AtOnce {
 public:
  explicit AtOnce(int descriptor) : descriptor_(descriptor) {
    struct stat info{};
    if (::fstat(descriptor, &info) != 0) return;
    is_file_ = S_ISREG(info.st_mode);
    is_socket_ = S_ISSOCK(info.st_mode);
    if (is_file_ || is_socket_) return;
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    own_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;
  ~AtOnce() {
    if (own_ >= 0) ::close(own_);
  }

  /// Returns how many bytes were written. If the write fails (other than for lack of room), returns
  /// the size of the text, so that the line is dropped.
  [[nodiscard]] std::size_t write(std::string_view text) const noexcept {
    ssize_t n = -1;
    if (is_socket_) {
      n = ::send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    } else if (is_file_ || own_ >= 0) {
      n = ::write(is_file_ ? descriptor_ : own_, text.data(), text.size());
    } else {
      return 0;
    }
    if (n >= 0) return static_cast<std::size_t>(n);
    return errno == EAGAIN || errno == EINTR ? 0 : text.size();
  }

 private:
  const int descriptor_;
  bool is_file_ = false;
  bool is_socket_ = false;
  int own_ = -1;
};

// Shared with the thread, and outlives the LineWriter if the thread hangs in a write.
struct LineWriter::Shared {
  Shared(int to, Lost tell) : descriptor(to), at_once(to), lost(std::move(tell)) {}

  void take(std::string line) {
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  void tell_lost() {
    const std::uint64_t count = std::exchange(left_out, 0);
    if (count > 0 && lost) take(lost(count));
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      if (lines.empty()) tell_lost();
      changed.wait(lock, [this] { return !lines.empty() || ending; });
      if (lines.empty()) break;
      const std::string line = std::move(lines.front());
      lines.pop_front();
      lock.unlock();
      put(line);
      lock.lock();
      bytes -= line.size();
    }
    ended = true;
    changed.notify_all();
  }

  // If a write fails, the rest of the line is dropped, but the thread goes on: the descriptor may
  // take a later line.
  void put(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::write(descriptor, text.data(), text.size());
      if (n >= 0) {
        text.remove_prefix(static_cast<std::size_t>(n));
        const std::lock_guard lock(mutex);
        ++progress;
        changed.notify_all();
      } else if (errno == EAGAIN) {
        pollfd room{descriptor, POLLOUT, 0};
        static_cast<void>(::poll(&room, 1, -1));
      } else if (errno != EINTR) {
        return;
      }
    }
  }

  const int descriptor;
  const AtOnce at_once;
  Lost lost;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
  std::size_t bytes = 0;  // bytes of the waiting lines and of the line being written
  std::uint64_t left_out = 0;
  std::uint64_t progress = 0;
  bool ending = false;
  bool ended = false;
};

LineWriter::LineWriter(int descriptor, Lost lost)
    : shared_(std::make_shared<Shared>(descriptor, std::move(lost))) {
  base::start_thread("log", [shared = shared_] { shared->run(); }).detach();
}

LineWriter::~LineWriter() {
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->changed.notify_all();
  while (!shared_->ended) {
    const std::uint64_t before = shared_->progress;
    const auto moved = [&] { return shared_->ended || shared_->progress != before; };
    if (!shared_->changed.wait_for(lock, std::chrono::milliseconds(kLastWordsMs), moved)) {
      shared_->lost = nullptr;  // the objects that it refers to are destroyed with the LineWriter
      return;
    }
  }
}

void LineWriter::write(std::string line) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->bytes >= kMostBytes) {
    ++shared_->left_out;
    return;
  }
  // Usually the descriptor has room. Then the line is written before the caller continues.
  if (shared_->bytes == 0 && shared_->left_out == 0) {
    line.erase(0, shared_->at_once.write(line));
    if (line.empty()) return;
  }
  shared_->tell_lost();
  shared_->take(std::move(line));
  shared_->changed.notify_all();
}

}  // namespace tarry::app
