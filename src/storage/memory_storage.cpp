#include "storage/memory_storage.h"

#include <cerrno>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <variant>

#include "storage/failure.h"
#include "storage/memory_file.h"

namespace tarry::storage {
namespace {

/// One lock for all names of a disk, and for the holders of its lock files.
using Names = std::mutex;

struct FileNode {
  explicit FileNode(std::shared_ptr<MemoryRoom> room) : contents(std::move(room)) {}

  MemoryContents contents;
  bool locked = false;       // guarded by Names, like the next member
  std::uint32_t shared = 0;  // how many holders share the lock
};

struct DirectoryNode;
using Entry = std::variant<std::shared_ptr<FileNode>, std::shared_ptr<DirectoryNode>>;

struct DirectoryNode {
  std::map<std::string, Entry, std::less<>> entries;  // guarded by Names
};

/// Every handle on a disk keeps this alive.
struct Disk {
  explicit Disk(std::uint64_t capacity) : room(std::make_shared<MemoryRoom>(capacity)) {}

  std::shared_ptr<MemoryRoom> room;
  Names names;
  std::shared_ptr<DirectoryNode> root = std::make_shared<DirectoryNode>();
};

class MemoryFile final : public File {
 public:
  MemoryFile(std::shared_ptr<FileNode> node, std::string path, bool writable)
      : node_(std::move(node)), path_(std::move(path)), writable_(writable) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    return write_at(offset, std::span<const std::string_view>(&bytes, 1));
  }

  Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) override {
    if (auto ok = check_writable("write"); !ok) return ok;
    std::uint64_t total = 0;
    for (const std::string_view piece : pieces) total += piece.size();
    if (auto ok = check_range("write", path_, offset, total); !ok) return ok;
    if (node_->contents.write(offset, pieces, total)) return {};
    return system_failure_at("write", path_, offset, ENOSPC);
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
    if (auto ok = check_range("read", path_, offset, into.size()); !ok) return ok.error();
    return node_->contents.read(offset, into);
  }

  Result<void> sync_data() override { return {}; }

  Result<void> allocate(std::uint64_t size) override {
    if (auto ok = check_writable("reserve room in"); !ok) return ok;
    if (auto ok = check_range("reserve room in", path_, 0, size); !ok) return ok;
    if (node_->contents.grow(size, true)) return {};
    return system_failure_at("reserve room in", path_, size, ENOSPC);
  }

  Result<void> truncate(std::uint64_t size) override {
    if (auto ok = check_writable("truncate"); !ok) return ok;
    if (auto ok = check_range("truncate", path_, size, 0); !ok) return ok;
    node_->contents.shrink(size);
    if (node_->contents.grow(size, false)) return {};
    return system_failure_at("truncate", path_, size, ENOSPC);
  }

  Result<std::uint64_t> size() const override { return node_->contents.size(); }

  void will_need(std::uint64_t /*offset*/, std::uint64_t /*length*/) const override {}

 private:
  Result<void> check_writable(std::string_view operation) const {
    if (writable_) return {};
    return failure(ErrorCode::misuse, operation, path_, "it was opened read-only");
  }

  std::shared_ptr<FileNode> node_;
  std::string path_;
  bool writable_;
};

class MemoryLock final : public Lock {
 public:
  MemoryLock(std::shared_ptr<Disk> disk, std::shared_ptr<FileNode> node)
      : disk_(std::move(disk)), node_(std::move(node)) {}
  ~MemoryLock() override {
    const std::scoped_lock names(disk_->names);
    node_->contents.shrink(0);
    node_->locked = false;
  }
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;

 private:
  std::shared_ptr<Disk> disk_;
  std::shared_ptr<FileNode> node_;
};

class MemorySharedLock final : public Lock {
 public:
  MemorySharedLock(std::shared_ptr<Disk> disk, std::shared_ptr<FileNode> node)
      : disk_(std::move(disk)), node_(std::move(node)) {}
  ~MemorySharedLock() override {
    const std::scoped_lock names(disk_->names);
    --node_->shared;
  }
  MemorySharedLock(const MemorySharedLock&) = delete;
  MemorySharedLock& operator=(const MemorySharedLock&) = delete;

 private:
  std::shared_ptr<Disk> disk_;
  std::shared_ptr<FileNode> node_;
};

class MemoryDirectory final : public Directory {
 public:
  MemoryDirectory(std::shared_ptr<Disk> disk, std::shared_ptr<DirectoryNode> node, std::string path)
      : disk_(std::move(disk)), node_(std::move(node)), path_(std::move(path)) {}

  Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    const bool create = mode == OpenMode::create_new;
    const std::string_view operation = create ? "create" : "open";
    if (auto ok = check_name(operation, path_, name); !ok) return ok.error();
    std::string path = join_path(path_, name);
    const std::scoped_lock names(disk_->names);
    if (create && node_->entries.contains(name)) return system_failure(operation, path, EEXIST);
    auto file = create ? make_file(name) : find_file(operation, name);
    if (!file) return file.error();
    return std::unique_ptr<File>(
        new MemoryFile(std::move(*file), std::move(path), mode != OpenMode::read_only));
  }

  Result<std::vector<std::string>> list() const override {
    std::vector<std::string> found;
    const std::scoped_lock names(disk_->names);
    for (const auto& [name, entry] : node_->entries) found.push_back(name);
    return found;
  }

  Result<void> remove(std::string_view name) override {
    if (auto ok = check_name("remove", path_, name); !ok) return ok;
    const std::scoped_lock names(disk_->names);
    if (auto file = find_file("remove", name); !file) return file.error();
    node_->entries.erase(node_->entries.find(name));
    return {};
  }

  Result<void> rename(std::string_view from, std::string_view to) override {
    if (auto ok = check_name("rename", path_, from); !ok) return ok;
    if (auto ok = check_name("rename to", path_, to); !ok) return ok;
    const std::scoped_lock names(disk_->names);
    auto file = find_file("rename", from);
    if (!file) return file.error();
    if (auto target = find_file("rename to", to);
        !target && target.error().code != ErrorCode::not_found) {
      return target.error();
    }
    node_->entries.erase(node_->entries.find(from));
    node_->entries.insert_or_assign(std::string(to), std::move(*file));
    return {};
  }

  Result<void> sync() override { return {}; }

  Result<std::unique_ptr<Directory>> subdirectory(std::string_view name, bool create) override {
    if (auto ok = check_name("open directory", path_, name); !ok) return ok.error();
    std::string path = join_path(path_, name);
    const std::scoped_lock names(disk_->names);
    auto found = node_->entries.find(name);
    if (found == node_->entries.end()) {
      if (!create) return system_failure("open directory", path, ENOENT);
      found = node_->entries.emplace(name, std::make_shared<DirectoryNode>()).first;
    }
    const auto* const node = std::get_if<std::shared_ptr<DirectoryNode>>(&found->second);
    if (node == nullptr) return system_failure("open directory", path, ENOTDIR);
    return std::unique_ptr<Directory>(new MemoryDirectory(disk_, *node, std::move(path)));
  }

  Result<std::unique_ptr<Lock>> lock(std::string_view name, std::string_view holder) override {
    if (auto ok = check_name("lock", path_, name); !ok) return ok.error();
    const std::scoped_lock names(disk_->names);
    auto file = node_->entries.contains(name) ? find_file("lock", name) : make_file(name);
    if (!file) return file.error();
    FileNode& node = **file;
    if (node.shared > 0) {
      return failure(ErrorCode::conflict, "lock", join_path(path_, name), kHeldByReader);
    }
    if (node.locked) {
      return failure(ErrorCode::conflict, "lock", join_path(path_, name),
                     "held by " + text_of(node.contents));
    }
    const std::string text = std::string(holder) + "\n";
    const std::string_view piece = text;
    node.contents.shrink(0);
    // The text only informs: if it cannot be written, as on a full disk, a store can still be
    // opened.
    static_cast<void>(node.contents.write(0, {&piece, 1}, piece.size()));
    node.locked = true;
    return std::unique_ptr<Lock>(new MemoryLock(disk_, std::move(*file)));
  }

  Result<std::unique_ptr<Lock>> lock_shared(std::string_view name) override {
    if (auto ok = check_name("lock", path_, name); !ok) return ok.error();
    const std::scoped_lock names(disk_->names);
    auto file = find_file("lock", name);
    if (!file) return file.error();
    FileNode& node = **file;
    if (node.locked) {
      return failure(ErrorCode::conflict, "lock", join_path(path_, name),
                     "held by " + text_of(node.contents));
    }
    ++node.shared;
    return std::unique_ptr<Lock>(new MemorySharedLock(disk_, std::move(*file)));
  }

  Result<Space> space() const override { return disk_->room->space(); }

  std::string path() const override { return path_; }

 private:
  // The caller of these two functions holds Names.
  Result<std::shared_ptr<FileNode>> find_file(std::string_view operation,
                                              std::string_view name) const {
    const auto found = node_->entries.find(name);
    if (found == node_->entries.end()) {
      return system_failure(operation, join_path(path_, name), ENOENT);
    }
    const auto* const file = std::get_if<std::shared_ptr<FileNode>>(&found->second);
    if (file == nullptr) return system_failure(operation, join_path(path_, name), EISDIR);
    return *file;
  }

  Result<std::shared_ptr<FileNode>> make_file(std::string_view name) {
    auto file = std::make_shared<FileNode>(disk_->room);
    node_->entries.emplace(name, file);
    return file;
  }

  static std::string text_of(const MemoryContents& contents) {
    char text[200];
    std::string_view holder(text, contents.read(0, text));
    holder = holder.substr(0, holder.find('\n'));
    return holder.empty() ? std::string("another process") : std::string(holder);
  }

  std::shared_ptr<Disk> disk_;
  std::shared_ptr<DirectoryNode> node_;
  std::string path_;
};

}  // namespace

struct MemoryDisk::State : Disk {
  using Disk::Disk;
};

MemoryDisk::MemoryDisk(std::uint64_t capacity_bytes)
    : state_(std::make_shared<State>(capacity_bytes)) {}

MemoryDisk::~MemoryDisk() = default;

std::unique_ptr<Directory> MemoryDisk::root() const {
  return std::make_unique<MemoryDirectory>(state_, state_->root, "memory:");
}

void MemoryDisk::set_capacity(std::uint64_t capacity_bytes) {
  state_->room->set_capacity(capacity_bytes);
}

std::uint64_t MemoryDisk::used_bytes() const { return state_->room->used(); }

std::unique_ptr<Directory> memory_directory(std::uint64_t capacity_bytes) {
  return MemoryDisk(capacity_bytes).root();
}

}  // namespace tarry::storage
