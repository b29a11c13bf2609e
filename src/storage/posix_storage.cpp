#include "storage/posix_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "storage/failure.h"
#include "storage/ownership.h"
#include "storage/posix_file.h"
#include "storage/posix_reader.h"

namespace tarry::storage {
namespace {

constexpr mode_t kFileMode = 0640;
constexpr mode_t kDirectoryMode = 0750;
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

FileDescriptor open_in(int directory, const std::string& name, int flags, mode_t mode = 0) {
  return FileDescriptor(
      uninterrupted([&] { return ::openat(directory, name.c_str(), flags, mode); }));
}

/// 0 for a regular file, else the errno value that says what is wrong with it.
int check_regular(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return 0;
  return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
}

Error not_regular(std::string_view operation, std::string_view path, int error_number) {
  return error_number == EISDIR
             ? system_failure(operation, path, EISDIR)
             : failure(ErrorCode::invalid_argument, operation, path, "Not a regular file");
}

/// Opens a regular file; anything else is refused without waiting for it (a FIFO would block).
Result<FileDescriptor> open_regular(std::string_view operation, int directory,
                                    const std::string& name, const std::string& path, int flags) {
  FileDescriptor fd =
      open_in(directory, name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kFileMode);
  if (!fd.valid()) return system_failure(operation, path, errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return system_failure(operation, path, errno);
  if (const int wrong = check_regular(status)) return not_regular(operation, path, wrong);
  if ((flags & O_CREAT) == 0) return fd;
  if (const int wrong = give_to_owner_of(directory, fd.get())) {
    return system_failure("give the directory's owner", path, wrong);
  }
  return fd;
}

// Who only looks lets go at once: it is waited for, this often and this long each time.
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
    // At once: whoever else tries to lock it would take us for a reader.
    static_cast<void>(::flock(fd, LOCK_UN));
    if (tried == kTries) return Held::by_reader;
    std::this_thread::sleep_for(kPause);
  }
}

/// A lock on what is open here. Not left to close(): a child forked meanwhile keeps the descriptor
/// until it execs. And a forked child shares the lock: it must not take it from its parent.
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
    // As for PosixLock.
    if (::getpid() != owner_) return;
    // So that the text does not name a holder who is gone; while the lock is still ours.
    static_cast<void>(file_->truncate(0));
    static_cast<void>(::flock(file_->descriptor(), LOCK_UN));
  }
  PosixNamedLock(const PosixNamedLock&) = delete;
  PosixNamedLock& operator=(const PosixNamedLock&) = delete;

 private:
  std::unique_ptr<PosixFile> file_;
  pid_t owner_;
};

class PosixDirectory final : public Directory {
 public:
  PosixDirectory(FileDescriptor fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    const bool create = mode == OpenMode::create_new;
    const std::string_view operation = create ? "create" : "open";
    if (auto ok = check_name(operation, path_, name); !ok) return ok.error();
    const int flags = create                        ? O_RDWR | O_CREAT | O_EXCL
                      : mode == OpenMode::read_only ? O_RDONLY
                                                    : O_RDWR;
    std::string path = join_path(path_, name);
    auto fd = open_regular(operation, fd_.get(), std::string(name), path, flags);
    if (!fd) return fd.error();
    return std::unique_ptr<File>(
        new PosixFile(std::move(*fd), std::move(path), mode != OpenMode::read_only));
  }

  Result<std::vector<std::string>> list() const override {
    // Its own descriptor: the position in the listing is shared by all who share a descriptor.
    const int own = open_in(fd_.get(), ".", kDirectoryFlags).release();
    DIR* const stream = own < 0 ? nullptr : ::fdopendir(own);
    if (stream == nullptr) {
      const int error_number = errno;
      if (own >= 0) ::close(own);
      return system_failure("list", path_, error_number);
    }
    std::vector<std::string> names;
    for (;;) {
      errno = 0;
      const dirent* const entry = ::readdir(stream);
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != ".." && is_file_or_directory(*entry)) names.emplace_back(name);
    }
    const int error_number = errno;
    ::closedir(stream);
    if (error_number != 0) return system_failure("list", path_, error_number);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<void> remove(std::string_view name) override {
    if (auto ok = check_name("remove", path_, name); !ok) return ok;
    if (::unlinkat(fd_.get(), std::string(name).c_str(), 0) == 0) return {};
    return system_failure("remove", join_path(path_, name), errno);
  }

  Result<void> rename(std::string_view from, std::string_view to) override {
    if (auto ok = check_name("rename", path_, from); !ok) return ok;
    if (auto ok = check_name("rename to", path_, to); !ok) return ok;
    const std::string old_name(from);
    const std::string new_name(to);
    const std::string what = join_path(path_, from) + " to " + new_name;
    struct stat status{};
    if (::fstatat(fd_.get(), old_name.c_str(), &status, 0) != 0) {
      return system_failure("rename", what, errno);
    }
    if (const int wrong = check_regular(status)) return not_regular("rename", what, wrong);
    if (::renameat(fd_.get(), old_name.c_str(), fd_.get(), new_name.c_str()) == 0) return {};
    return system_failure("rename", what, errno);
  }

  Result<void> link(std::string_view name, Directory& other) override {
    if (auto ok = check_name("link", path_, name); !ok) return ok;
    auto* const into = dynamic_cast<PosixDirectory*>(&other);
    if (into == nullptr) return Directory::link(name, other);
    const std::string own(name);
    if (::linkat(fd_.get(), own.c_str(), into->fd_.get(), own.c_str(), 0) == 0) return {};
    const int why = errno;
    const std::string what = join_path(path_, name) + " into " + into->path_;
    if (why == EXDEV || why == EPERM || why == EMLINK || why == EOPNOTSUPP || why == ENOSYS) {
      return failure(ErrorCode::unsupported, "link", what, text_of_errno(why));
    }
    return system_failure("link", what, why);
  }

  Result<bool> is_named(std::string_view name, const File& file) const override {
    if (auto ok = check_name("look at", path_, name); !ok) return ok.error();
    const auto* const open = dynamic_cast<const PosixFile*>(&file);
    if (open == nullptr) return Directory::is_named(name, file);
    struct stat named{};
    struct stat held{};
    if (::fstatat(fd_.get(), std::string(name).c_str(), &named, 0) != 0) {
      if (errno == ENOENT) return false;
      return system_failure("look at", join_path(path_, name), errno);
    }
    if (::fstat(open->descriptor(), &held) != 0) {
      return system_failure("look at", join_path(path_, name), errno);
    }
    return named.st_ino == held.st_ino && named.st_dev == held.st_dev;
  }

  Result<void> sync() override {
    // The kernel tells a failure once: whoever comes after it waits until it is known.
    const std::scoped_lock lock(sync_mutex_);
    if (sync_failed_) {
      return failure(ErrorCode::io_error, "sync directory", path_, "an earlier sync of it failed");
    }
    if (uninterrupted([&] { return ::fsync(fd_.get()); }) == 0) return {};
    const int error_number = errno;
    sync_failed_ = true;
    return failure(ErrorCode::io_error, "sync directory", path_, text_of_errno(error_number));
  }

  Result<std::unique_ptr<Directory>> subdirectory(std::string_view name, bool create) override {
    if (auto ok = check_name("open directory", path_, name); !ok) return ok.error();
    const std::string own_name(name);
    std::string path = join_path(path_, name);
    if (create && ::mkdirat(fd_.get(), own_name.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
      return system_failure("make directory", path, errno);
    }
    FileDescriptor fd = open_in(fd_.get(), own_name, kDirectoryFlags);
    if (!fd.valid()) return system_failure("open directory", path, errno);
    if (const int wrong = create ? give_to_owner_of(fd_.get(), fd.get()) : 0) {
      return system_failure("give the directory's owner", path, wrong);
    }
    return std::unique_ptr<Directory>(new PosixDirectory(std::move(fd), std::move(path)));
  }

  Result<std::unique_ptr<Lock>> lock(std::string_view name, std::string_view holder) override {
    if (auto ok = check_name("lock", path_, name); !ok) return ok.error();
    const std::string path = join_path(path_, name);
    auto fd = open_regular("lock", fd_.get(), std::string(name), path, O_RDWR | O_CREAT);
    if (!fd) return fd.error();
    switch (lock_alone(fd->get())) {
      case Held::ours: break;
      case Held::failed: return system_failure("lock", path, errno);
      // A reader writes no text: what stands there is of somebody before it.
      case Held::by_reader: return failure(ErrorCode::conflict, "lock", path, kHeldByReader);
      case Held::by_another: return failure(ErrorCode::conflict, "lock", path, held_by(fd->get()));
    }
    auto file = std::make_unique<PosixFile>(std::move(*fd), path, true);
    auto written = file->truncate(0);
    if (written) written = file->write_at(0, std::string(holder) + "\n");
    // The text is a courtesy: a full disk must not keep a store from being opened.
    if (!written && written.error().code != ErrorCode::no_space) return written.error();
    return std::unique_ptr<Lock>(new PosixNamedLock(std::move(file)));
  }

  Result<std::unique_ptr<Lock>> lock_shared(std::string_view name) override {
    if (auto ok = check_name("lock", path_, name); !ok) return ok.error();
    const std::string path = join_path(path_, name);
    auto fd = open_regular("lock", fd_.get(), std::string(name), path, O_RDONLY);
    if (!fd) return fd.error();
    if (uninterrupted([&] { return ::flock(fd->get(), LOCK_SH | LOCK_NB); }) != 0) {
      if (errno != EWOULDBLOCK) return system_failure("lock", path, errno);
      return failure(ErrorCode::conflict, "lock", path, held_by(fd->get()));
    }
    return std::unique_ptr<Lock>(new PosixLock(std::move(*fd)));
  }

  Result<std::unique_ptr<Lock>> lock_itself(Sharing sharing) override {
    FileDescriptor fd = open_in(fd_.get(), ".", kDirectoryFlags);
    if (!fd.valid()) return system_failure("lock", path_, errno);
    Held held{};
    if (sharing == Sharing::none) {
      held = lock_alone(fd.get());
    } else if (uninterrupted([&] { return ::flock(fd.get(), LOCK_SH | LOCK_NB); }) == 0) {
      held = Held::ours;
    } else {
      held = errno == EWOULDBLOCK ? Held::by_another : Held::failed;
    }
    switch (held) {
      case Held::ours: return std::unique_ptr<Lock>(new PosixLock(std::move(fd)));
      // The file system locks no directories.
      case Held::failed: return Directory::lock_itself(sharing);
      case Held::by_reader: return failure(ErrorCode::conflict, "lock", path_, kHeldByReader);
      case Held::by_another: break;
    }
    return failure(ErrorCode::conflict, "lock", path_, "held by another process");
  }

  std::unique_ptr<Reader> make_reader() const override { return std::make_unique<PosixReader>(); }

  Result<Space> space() const override {
    Space space{};
    const int error_number = read_space(fd_.get(), space);
    if (error_number != 0) return system_failure("read the free space of", path_, error_number);
    return space;
  }

  std::string path() const override { return path_; }

 private:
  bool is_file_or_directory(const dirent& entry) const {
    if (entry.d_type == DT_REG || entry.d_type == DT_DIR) return true;
    // Not every file system fills in the type, and a link counts as what it points to.
    if (entry.d_type != DT_UNKNOWN && entry.d_type != DT_LNK) return false;
    struct stat status{};
    return ::fstatat(fd_.get(), entry.d_name, &status, 0) == 0 &&
           (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
  }

  static std::string held_by(int fd) {
    char text[200];
    const ssize_t got = uninterrupted([&] { return ::pread(fd, text, sizeof text, 0); });
    std::string_view holder(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    holder = holder.substr(0, holder.find('\n'));
    // Empty between a holder's lock and its writing, or where the disk was full.
    return "held by " + (holder.empty() ? std::string("another process") : std::string(holder));
  }

  FileDescriptor fd_;
  std::string path_;
  std::mutex sync_mutex_;
  bool sync_failed_ = false;
};

/// Makes the entry of `child` in `parent` durable.
Result<void> sync_entry(int parent, int child, const std::string& parent_path) {
  FileDescriptor readable = open_in(parent, ".", kDirectoryFlags);
  // A parent that may be written but not read cannot be synced by itself: sync all of the file
  // system then, through the child. Rare, and only when a store is made.
  const bool whole = !readable.valid() && errno == EACCES;
  if (whole) readable = open_in(child, ".", kDirectoryFlags);
  if (!readable.valid()) return system_failure("open directory", parent_path, errno);
  const int failed =
      uninterrupted([&] { return whole ? ::syncfs(readable.get()) : ::fsync(readable.get()); });
  if (failed == 0) return {};
  return failure(ErrorCode::io_error, "sync directory", parent_path, text_of_errno(errno));
}

/// mkdir -p, component by component, each synced into its parent.
Result<void> make_directories(const std::string& path) {
  std::string done = path.front() == '/' ? "/" : ".";
  FileDescriptor parent = open_in(AT_FDCWD, done, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!parent.valid()) return system_failure("open directory", done, errno);
  if (done == ".") done.clear();
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    at = end + 1;
    if (name.empty()) continue;
    const std::string parent_path = done.empty() ? "." : done;
    done = done.empty() ? name : join_path(done, name);

    const bool made = ::mkdirat(parent.get(), name.c_str(), kDirectoryMode) == 0;
    const int error_number = errno;
    FileDescriptor child = open_in(parent.get(), name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!child.valid()) {
      // Where mkdir and open disagree, mkdir's reason is the one to tell (no rights, no room).
      const bool missing = errno == ENOENT && !made;
      return system_failure("make directory", done, missing ? error_number : errno);
    }
    if (made) {
      if (auto ok = sync_entry(parent.get(), child.get(), parent_path); !ok) return ok;
    } else if (at >= path.size()) {
      // Whoever made it may have died before this; where it cannot be done it was not our doing.
      const FileDescriptor readable = open_in(parent.get(), ".", kDirectoryFlags);
      if (readable.valid()) static_cast<void>(::fsync(readable.get()));
    }
    parent = std::move(child);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Directory>> open_directory(std::string_view path, bool create) {
  std::string own(path);
  if (own.empty() || own.find('\0') != std::string::npos) {
    return failure(ErrorCode::invalid_argument, "open directory", "\"" + own + "\"",
                   own.empty() ? "a path must not be empty" : "a path holds no zero byte");
  }
  while (own.size() > 1 && own.back() == '/') own.pop_back();
  if (create) {
    if (auto ok = make_directories(own); !ok) return ok.error();
  }
  FileDescriptor fd = open_in(AT_FDCWD, own, kDirectoryFlags);
  if (!fd.valid()) return system_failure("open directory", own, errno);
  return std::unique_ptr<Directory>(new PosixDirectory(std::move(fd), std::move(own)));
}

}  // namespace tarry::storage
