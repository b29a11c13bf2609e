#include "storage/posix_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <mutex>
#include <utility>

#include "storage/failure.h"
#include "storage/ownership.h"
#include "storage/posix_file.h"
#include "storage/posix_lock.h"
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

/// 0 for a regular file, otherwise the errno value that describes the problem.
int check_regular(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return 0;
  return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
}

Error not_regular(std::string_view operation, std::string_view path, int error_number) {
  return error_number == EISDIR
             ? system_failure(operation, path, EISDIR)
             : failure(ErrorCode::invalid_argument, operation, path, "Not a regular file");
}

/// Opens a regular file. Anything else is refused without waiting for it (a FIFO would block), and
/// a link without looking at its target.
Result<FileDescriptor> open_regular(std::string_view operation, int directory,
                                    const std::string& name, const std::string& path, int flags) {
  FileDescriptor fd =
      open_in(directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, kFileMode);
  // ENXIO, ENODEV: a socket, or a device without a driver.
  if (!fd.valid() && (errno == ENXIO || errno == ENODEV)) {
    return not_regular(operation, path, EINVAL);
  }
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

/// The current path of an open directory; empty if the system does not say.
std::string path_of(int directory) {
  std::string path(PATH_MAX, '\0');
  const std::string link = "/proc/self/fd/" + std::to_string(directory);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  path.resize(size > 0 && static_cast<std::size_t>(size) < path.size()
                  ? static_cast<std::size_t>(size)
                  : 0);
  return path;
}

bool leads_to(const std::string& path, int directory) {
  struct stat held{}, named{};
  return ::fstat(directory, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         named.st_ino == held.st_ino && named.st_dev == held.st_dev;
}

class PosixDirectory final : public Directory {
 public:
  PosixDirectory(FileDescriptor fd, std::string path)
      : fd_(std::move(fd)),
        path_(std::move(path)),
        place_(path_of(fd_.get())),
        place_is_ours_(leads_to(place_, fd_.get())) {}

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
    // A descriptor of its own, because all users of a descriptor share the position in the listing.
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
      if (name != "." && name != "..") names.emplace_back(name);
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
    if (::fstatat(fd_.get(), old_name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
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
    if (::fstatat(fd_.get(), std::string(name).c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return false;
      return system_failure("look at", join_path(path_, name), errno);
    }
    if (::fstat(open->descriptor(), &held) != 0) {
      return system_failure("look at", join_path(path_, name), errno);
    }
    return named.st_ino == held.st_ino && named.st_dev == held.st_dev;
  }

  Result<void> sync() override {
    // The kernel reports a failed sync only once, so a later caller waits until the result of this
    // sync is known.
    const std::scoped_lock lock(sync_mutex_);
    if (sync_failed_) {
      return failure(ErrorCode::io_error, "sync directory", path_, "an earlier sync of it failed");
    }
    if (uninterrupted([&] { return ::fsync(fd_.get()); }) == 0) return {};
    const int error_number = errno;
    sync_failed_ = true;
    return failure(ErrorCode::io_error, "sync directory", path_, text_of_errno(error_number));
  }

  [[nodiscard]] bool is_in_place() const override {
    struct stat held{};
    if (::fstat(fd_.get(), &held) != 0) return true;
    if (held.st_nlink == 0) return false;
    if (place_.empty()) return true;
    // The directory was opened through another mount namespace (/proc/PID/root). Its path means
    // nothing in this namespace, but it changes if the directory moves.
    if (!place_is_ours_) {
      const std::string now = path_of(fd_.get());
      return now.empty() || now.starts_with("(unreachable)") || now == place_;
    }
    struct stat named{};
    if (::stat(place_.c_str(), &named) == 0) {
      return named.st_ino == held.st_ino && named.st_dev == held.st_dev;
    }
    if (errno != ENOENT && errno != ENOTDIR) return true;
    // In a process that has changed its root, the earlier path no longer leads anywhere.
    const std::string now = path_of(fd_.get());
    return now.empty() || now.starts_with("(unreachable)");
  }

  Result<std::unique_ptr<Directory>> subdirectory(std::string_view name, bool create) override {
    if (auto ok = check_name("open directory", path_, name); !ok) return ok.error();
    const std::string own_name(name);
    std::string path = join_path(path_, name);
    if (create && ::mkdirat(fd_.get(), own_name.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
      return system_failure("make directory", path, errno);
    }
    FileDescriptor fd = open_in(fd_.get(), own_name, kDirectoryFlags | O_NOFOLLOW);
    if (!fd.valid()) {
      const int error_number = errno;
      struct stat status{};
      const bool is_link =
          error_number == ENOTDIR &&
          ::fstatat(fd_.get(), own_name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISLNK(status.st_mode);
      return system_failure("open directory", path, is_link ? ELOOP : error_number);
    }
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
    return lock_file(std::move(*fd), path, holder);
  }

  Result<std::unique_ptr<Lock>> lock_shared(std::string_view name) override {
    if (auto ok = check_name("lock", path_, name); !ok) return ok.error();
    const std::string path = join_path(path_, name);
    auto fd = open_regular("lock", fd_.get(), std::string(name), path, O_RDONLY);
    if (!fd) return fd.error();
    return lock_file_shared(std::move(*fd), path);
  }

  Result<std::unique_ptr<Lock>> lock_itself(Sharing sharing) override {
    FileDescriptor fd = open_in(fd_.get(), ".", kDirectoryFlags);
    if (!fd.valid()) return system_failure("lock", path_, errno);
    auto lock = lock_open_directory(std::move(fd), path_, sharing);
    // Null: the file system cannot lock directories.
    if (lock && *lock == nullptr) return Directory::lock_itself(sharing);
    return lock;
  }

  std::unique_ptr<Reader> make_reader() const override { return std::make_unique<PosixReader>(); }

  Result<Space> space() const override {
    Space space{};
    const int error_number = read_space(fd_.get(), space);
    if (error_number != 0) return system_failure("read the free space of", path_, error_number);
    return space;
  }

  [[nodiscard]] std::uint64_t largest_file() const override {
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
      return UINT64_MAX;
    }
    return limit.rlim_cur;
  }

  std::string path() const override { return path_; }

 private:
  FileDescriptor fd_;
  std::string path_;
  std::string place_;         // its path from the root when it was opened; empty: not known
  const bool place_is_ours_;  // from the root that this process sees
  std::mutex sync_mutex_;
  bool sync_failed_ = false;
};

/// Makes the entry of `child` in `parent` durable.
Result<void> sync_entry(int parent, int child, const std::string& parent_path) {
  FileDescriptor readable = open_in(parent, ".", kDirectoryFlags);
  // A parent that may be written but not read cannot be synced itself. Then sync the whole file
  // system, through the child. This is rare, and happens only when a store is made.
  const bool whole = !readable.valid() && errno == EACCES;
  if (whole) readable = open_in(child, ".", kDirectoryFlags);
  if (!readable.valid()) return system_failure("open directory", parent_path, errno);
  const int failed =
      uninterrupted([&] { return whole ? ::syncfs(readable.get()) : ::fsync(readable.get()); });
  if (failed == 0) return {};
  return failure(ErrorCode::io_error, "sync directory", parent_path, text_of_errno(errno));
}

/// Like mkdir -p: makes one component after the other, and syncs each into its parent.
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
      // If open fails after mkdir failed too, mkdir's reason is the useful one (no rights, no
      // room).
      const bool missing = errno == ENOENT && !made;
      return system_failure("make directory", done, missing ? error_number : errno);
    }
    if (made) {
      if (auto ok = sync_entry(parent.get(), child.get(), parent_path); !ok) return ok;
    } else if (at >= path.size()) {
      // Another process may have made the last directory and died before it synced the parent. If
      // this sync fails, the caller is not to blame.
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
