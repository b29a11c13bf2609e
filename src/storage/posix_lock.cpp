#include "storage/posix_lock.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "storage/failure.h"

namespace tarry::storage {
namespace {

constexpr std::string_view kTitle = "tarry lock: ";
constexpr std::size_t kLongestText = 4096;  // that a lock's text may be

// A reader releases its lock soon: how often to wait for it, and how long each time.
constexpr int kTries = 20;
constexpr std::chrono::milliseconds kPause{5};

enum class Held { ours, by_reader, by_another, failed };  // failed: errno says why

/// Tries to lock an open file, or a directory, against everybody.
Held lock_alone(int fd) {
  for (int tried = 1;; ++tried) {
    if (uninterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0) return Held::ours;
    if (errno != EWOULDBLOCK) return Held::failed;
    if (uninterrupted([&] { return ::flock(fd, LOCK_SH | LOCK_NB); }) != 0) {
      return errno == EWOULDBLOCK ? Held::by_another : Held::failed;
    }
    // The shared lock is released at once: another process that tries to lock the file would take
    // us for a reader.
    static_cast<void>(::flock(fd, LOCK_UN));
    if (tried == kTries) return Held::by_reader;
    std::this_thread::sleep_for(kPause);
  }
}

/// A lock on a file that is open here. It is not left to close(): a child forked meanwhile keeps
/// the descriptor until it execs. And a forked child shares the lock: it must not release its
/// parent's.
class PosixLock final : public Lock {
 public:
  explicit PosixLock(FileDescriptor fd) : fd_(std::move(fd)), owner_(::getpid()) {}
  ~PosixLock() override {
    if (::getpid() == owner_) static_cast<void>(::flock(fd_.get(), LOCK_UN));
  }
  PosixLock(const PosixLock&) = delete;
  PosixLock& operator=(const PosixLock&) = delete;

 private:
  FileDescriptor fd_;
  pid_t owner_;
};

class PosixNamedLock final : public Lock {
 public:
  explicit PosixNamedLock(std::unique_ptr<PosixFile> file)
      : file_(std::move(file)), owner_(::getpid()) {}
  ~PosixNamedLock() override {
    // A forked child must not release its parent's lock, as for PosixLock.
    if (::getpid() != owner_) return;
    // The text is erased while we still hold the lock, so that it never names a former holder.
    static_cast<void>(file_->truncate(0));
    static_cast<void>(::flock(file_->descriptor(), LOCK_UN));
  }
  PosixNamedLock(const PosixNamedLock&) = delete;
  PosixNamedLock& operator=(const PosixNamedLock&) = delete;

 private:
  std::unique_ptr<PosixFile> file_;
  pid_t owner_;
};

/// The text, or its beginning if it is longer than a lock's text.
std::optional<std::string> text_of(int fd) {
  std::string text(kLongestText + 1, '\0');
  const ssize_t got = uninterrupted([&] { return ::pread(fd, text.data(), text.size(), 0); });
  if (got < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::string held_by(int fd) {
  const std::string text = text_of(fd).value_or("");
  std::string_view holder = std::string_view(text).substr(0, text.find('\n'));
  if (holder.starts_with(kTitle)) holder.remove_prefix(kTitle.size());
  // The text is empty before a new holder has written it, and if the disk was full.
  return "held by " + (holder.empty() ? std::string("another process") : std::string(holder));
}

/// Earlier versions wrote a single line, with any name that their caller gave. A file with a second
/// name was made by a user, whatever it contains.
bool may_be_an_old_one(int fd, const std::string& text) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && status.st_nlink == 1 && text.find('\n') == text.size() - 1;
}

/// Whether lock_file wrote the file's text, or the text is the rest of such a text after a power
/// failure.
bool is_ours(int fd) {
  const auto text = text_of(fd);
  if (!text || text->size() > kLongestText) return false;
  return text->starts_with(kTitle) || text->find_first_not_of('\0') == std::string::npos ||
         may_be_an_old_one(fd, *text);
}

}  // namespace

Result<std::unique_ptr<Lock>> lock_file(FileDescriptor file, const std::string& path,
                                        std::string_view holder) {
  switch (lock_alone(file.get())) {
    case Held::ours: break;
    case Held::failed: return system_failure("lock", path, errno);
    // A reader writes no text, so any text in the file names a former holder.
    case Held::by_reader: return failure(ErrorCode::conflict, "lock", path, kHeldByReader);
    case Held::by_another: return failure(ErrorCode::conflict, "lock", path, held_by(file.get()));
  }
  if (!is_ours(file.get())) {
    return failure(ErrorCode::invalid_argument, "lock", path,
                   "it does not hold a lock's text, and is left unchanged: move it away");
  }
  auto ours = std::make_unique<PosixFile>(std::move(file), path, true);
  auto written = ours->truncate(0);
  if (written) written = ours->write_at(0, std::string(kTitle).append(holder).append("\n"));
  // The text only informs: a full disk must not keep a store from being opened.
  if (!written && written.error().code != ErrorCode::no_space) return written.error();
  return std::unique_ptr<Lock>(new PosixNamedLock(std::move(ours)));
}

Result<std::unique_ptr<Lock>> lock_file_shared(FileDescriptor file, const std::string& path) {
  if (uninterrupted([&] { return ::flock(file.get(), LOCK_SH | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("lock", path, errno);
    return failure(ErrorCode::conflict, "lock", path, held_by(file.get()));
  }
  return std::unique_ptr<Lock>(new PosixLock(std::move(file)));
}

Result<std::unique_ptr<Lock>> lock_open_directory(FileDescriptor directory, const std::string& path,
                                                  Sharing sharing) {
  Held held{};
  if (sharing == Sharing::none) {
    held = lock_alone(directory.get());
  } else if (uninterrupted([&] { return ::flock(directory.get(), LOCK_SH | LOCK_NB); }) == 0) {
    held = Held::ours;
  } else {
    held = errno == EWOULDBLOCK ? Held::by_another : Held::failed;
  }
  switch (held) {
    case Held::ours: return std::unique_ptr<Lock>(new PosixLock(std::move(directory)));
    case Held::failed: return std::unique_ptr<Lock>();
    case Held::by_reader: return failure(ErrorCode::conflict, "lock", path, kHeldByReader);
    case Held::by_another: break;
  }
  return failure(ErrorCode::conflict, "lock", path, "held by another process");
}

}  // namespace tarry::storage
