// The file seam on a VirtualDisk: its open files and directories.
#include <algorithm>
#include <utility>

#include "support/disks/virtual_disk.h"

namespace tarry::storage {

class VirtualDisk::OpenFile final : public File {
 public:
  OpenFile(VirtualDisk& disk, NodePtr node, std::string name, bool writable)
      : disk_(&disk), node_(std::move(node)), name_(std::move(name)), writable_(writable) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    const std::scoped_lock lock(disk_->mutex_);
    if (!writable_) return Unexpected(ErrorCode::misuse, name_ + " is open for reading only");
    if (auto error = disk_->fault(Faults::Kind::mutation, what("write_at", offset))) {
      if (disk_->short_writes()) {
        const std::string_view half = bytes.substr(0, bytes.size() / 2);
        if (disk_->reserve(*node_, offset + half.size())) write(*node_, offset, half);
      }
      return std::move(*error);
    }
    if (auto room = disk_->reserve(*node_, offset + bytes.size()); !room) return room;
    write(*node_, offset, bytes);
    return {};
  }
  Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) override {
    std::string all;
    for (const std::string_view piece : pieces) all.append(piece);
    return write_at(offset, all);
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = disk_->fault(Faults::Kind::read, what("read_at", offset))) {
      return std::move(*error);
    }
    if (offset >= node_->now.size()) return std::size_t{0};
    return node_->now.copy(into.data(), into.size(), offset);
  }
  Result<void> sync_data() override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = disk_->fault(Faults::Kind::sync, "sync_data " + name_)) {
      if (!disk_->dead()) disk_->fail_sync(*node_);
      return std::move(*error);
    }
    sync_file(*node_);
    return {};
  }
  Result<void> allocate(std::uint64_t size) override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = disk_->fault(Faults::Kind::mutation, "allocate " + name_)) {
      return std::move(*error);
    }
    if (auto room = disk_->reserve(*node_, size); !room) return room;
    if (node_->now.size() < size) resize(*node_, size);
    return {};
  }
  Result<void> truncate(std::uint64_t size) override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = disk_->fault(Faults::Kind::mutation, "truncate " + name_)) {
      return std::move(*error);
    }
    resize(*node_, size);
    node_->written_end = std::min(node_->written_end, size);
    node_->synced_end = std::min(node_->synced_end, size);
    return {};
  }
  Result<std::uint64_t> size() const override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = disk_->fault(Faults::Kind::read, "size " + name_)) return std::move(*error);
    return std::uint64_t{node_->now.size()};
  }
  void will_need(std::uint64_t /*offset*/, std::uint64_t /*length*/) const override {}

 private:
  std::string what(std::string_view operation, std::uint64_t offset) const {
    if (!disk_->faults_) return {};
    return std::string(operation) + " " + name_ + " (offset " + std::to_string(offset) + ")";
  }

  VirtualDisk* disk_;
  NodePtr node_;
  std::string name_;
  bool writable_;
};

// -- directories

class VirtualDisk::OpenDirectory final : public Directory {
 public:
  OpenDirectory(VirtualDisk& disk, NodePtr node, std::string path)
      : disk_(&disk), node_(std::move(node)), path_(std::move(path)) {}

  Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    const std::scoped_lock lock(disk_->mutex_);
    const bool create = mode == OpenMode::create_new;
    if (auto error = fault(create ? Faults::Kind::mutation : Faults::Kind::read, "open", name)) {
      return std::move(*error);
    }
    const auto found = node_->entries.find(name);
    if (create != (found == node_->entries.end())) {
      return Unexpected(create ? ErrorCode::conflict : ErrorCode::not_found,
                        path_ + "/" + std::string(name));
    }
    if (!create && found->second->is_directory) {
      return Unexpected(ErrorCode::invalid_argument,
                        path_ + "/" + std::string(name) + " is a directory");
    }
    NodePtr file = create ? std::make_shared<Node>() : found->second;
    if (create) {
      node_->entries.emplace(std::string(name), file);
      node_->lost.clear();
    }
    return std::unique_ptr<File>(new OpenFile(
        *disk_, std::move(file), path_ + "/" + std::string(name), mode != OpenMode::read_only));
  }
  Result<std::vector<std::string>> list() const override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = fault(Faults::Kind::read, "list", "")) return std::move(*error);
    std::vector<std::string> names;
    for (const auto& [name, node] : node_->entries) names.push_back(name);
    return names;
  }
  Result<void> remove(std::string_view name) override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = fault(Faults::Kind::mutation, "remove", name)) return std::move(*error);
    const auto found = node_->entries.find(name);
    if (found == node_->entries.end()) {
      return Unexpected(ErrorCode::not_found, path_ + "/" + std::string(name));
    }
    node_->entries.erase(found);
    node_->lost.clear();
    return {};
  }
  Result<void> rename(std::string_view from, std::string_view to) override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = fault(Faults::Kind::mutation, "rename", from)) return std::move(*error);
    const auto found = node_->entries.find(from);
    if (found == node_->entries.end()) {
      return Unexpected(ErrorCode::not_found, path_ + "/" + std::string(from));
    }
    NodePtr node = found->second;
    node_->entries.erase(found);
    node_->lost.clear();
    node_->entries.insert_or_assign(std::string(to), std::move(node));
    return {};
  }
  Result<void> sync() override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = fault(Faults::Kind::sync, "sync", "")) {
      if (!disk_->dead()) disk_->fail_sync_names(*node_);
      return std::move(*error);
    }
    disk_->sync_names(*node_);
    return {};
  }
  Result<std::unique_ptr<Directory>> subdirectory(std::string_view name, bool create) override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error =
            fault(create ? Faults::Kind::mutation : Faults::Kind::read, "subdirectory", name)) {
      return std::move(*error);
    }
    auto found = node_->entries.find(name);
    if (found == node_->entries.end()) {
      if (!create) return Unexpected(ErrorCode::not_found, path_ + "/" + std::string(name));
      auto made = std::make_shared<Node>();
      made->is_directory = true;
      found = node_->entries.emplace(std::string(name), std::move(made)).first;
    }
    if (!found->second->is_directory) {
      return Unexpected(ErrorCode::invalid_argument,
                        path_ + "/" + std::string(name) + " is no directory");
    }
    return std::unique_ptr<Directory>(
        new OpenDirectory(*disk_, found->second, path_ + "/" + std::string(name)));
  }
  Result<std::unique_ptr<Lock>> lock(std::string_view name, std::string_view /*holder*/) override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = fault(Faults::Kind::mutation, "lock", name)) return std::move(*error);
    auto& node = node_->entries[std::string(name)];
    if (!node) node = std::make_shared<Node>();
    return std::make_unique<Lock>();
  }
  Result<std::unique_ptr<Lock>> lock_shared(std::string_view name) override {
    const std::scoped_lock lock(disk_->mutex_);
    if (auto error = fault(Faults::Kind::read, "lock", name)) return std::move(*error);
    if (node_->entries.contains(name)) return std::make_unique<Lock>();
    return Unexpected(ErrorCode::not_found, path_ + "/" + std::string(name));
  }
  Result<Space> space() const override {
    const std::scoped_lock lock(disk_->mutex_);
    if (disk_->capacity_ == UINT64_MAX) return Space{UINT64_MAX, UINT64_MAX};
    const std::uint64_t taken = used(*disk_->root_);
    return Space{disk_->capacity_ - std::min(taken, disk_->capacity_), disk_->capacity_};
  }
  std::string path() const override { return path_; }

 private:
  std::optional<Error> fault(Faults::Kind kind, std::string_view operation,
                             std::string_view name) const {
    if (!disk_->faults_) return std::nullopt;
    return disk_->fault(kind, std::string(operation) + " " + path_ +
                                  (name.empty() ? std::string() : "/" + std::string(name)));
  }

  VirtualDisk* disk_;
  NodePtr node_;
  std::string path_;
};

std::unique_ptr<Directory> VirtualDisk::root() {
  return std::make_unique<OpenDirectory>(*this, root_, "disk:");
}

}  // namespace tarry::storage
