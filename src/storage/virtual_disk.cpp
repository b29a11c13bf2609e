#include "storage/virtual_disk.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tarry::storage {
namespace {

constexpr std::size_t kSector = VirtualDisk::kSector;

std::size_t sectors_of(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + kSector - 1) / kSector);
}

std::uint64_t pages_of(std::uint64_t bytes) {
  return (bytes + VirtualDisk::kPage - 1) / VirtualDisk::kPage * VirtualDisk::kPage;
}

std::string_view piece(const std::string& bytes, std::size_t sector) {
  const std::size_t at = sector * kSector;
  return at < bytes.size() ? std::string_view(bytes).substr(at, kSector) : std::string_view();
}

}  // namespace

// -- what an operation does to the tree

std::optional<Error> VirtualDisk::fault(Faults::Kind kind, std::string_view what) {
  return faults_ ? faults_->on_call(kind, what) : std::nullopt;
}

bool VirtualDisk::short_writes() const { return faults_ && faults_->short_writes(); }

bool VirtualDisk::dead() const { return faults_ && faults_->dead(); }

std::uint64_t VirtualDisk::used(const Node& directory) {
  std::uint64_t sum = 0;
  for (const auto& [name, node] : directory.entries) {
    sum += node->is_directory ? used(*node) : pages_of(node->now.size());
  }
  return sum;
}

Result<void> VirtualDisk::reserve(const Node& file, std::uint64_t size) const {
  if (capacity_ == UINT64_MAX || pages_of(size) <= pages_of(file.now.size())) return {};
  const std::uint64_t after = used(*root_) + pages_of(size) - pages_of(file.now.size());
  if (after <= capacity_) return {};
  return Unexpected(ErrorCode::no_space,
                    "the virtual disk has its limit of " + std::to_string(capacity_) + " bytes");
}

void VirtualDisk::resize(Node& file, std::uint64_t size) {
  file.now.resize(size, '\0');
  const bool cut = file.sectors.size() > sectors_of(size) && size % kSector != 0;
  file.sectors.resize(sectors_of(size), Sector::clean);
  std::erase_if(file.worn, [&](std::size_t sector) { return sector >= file.sectors.size(); });
  if (cut && file.sectors.back() == Sector::clean) {
    file.sectors.back() = Sector::dirty;
    file.worn.push_back(file.sectors.size() - 1);
  }
}

void VirtualDisk::write(Node& file, std::uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  if (file.now.size() < offset + bytes.size()) resize(file, offset + bytes.size());
  file.now.replace(offset, bytes.size(), bytes);
  for (std::size_t s = offset / kSector; s < sectors_of(offset + bytes.size()); ++s) {
    if (file.sectors[s] == Sector::clean) file.worn.push_back(s);
    file.sectors[s] = Sector::dirty;
  }
  file.written_end = std::max<std::uint64_t>(file.written_end, offset + bytes.size());
}

void VirtualDisk::put_on_medium(Node& file, std::size_t sector) {
  const std::string_view fresh = piece(file.now, sector);
  const std::size_t at = sector * kSector;
  if (file.disk.size() < at + fresh.size()) file.disk.resize(at + fresh.size(), '\0');
  file.disk.replace(at, fresh.size(), fresh);
}

void VirtualDisk::sync_file(Node& file) {
  file.disk.resize(file.now.size(), '\0');
  std::vector<std::size_t> lost;
  for (const std::size_t sector : file.worn) {
    if (file.sectors[sector] == Sector::lost) {
      lost.push_back(sector);
      continue;
    }
    put_on_medium(file, sector);
    file.sectors[sector] = Sector::clean;
  }
  file.worn = std::move(lost);
  file.synced_end = file.written_end;
}

// Each dirty sector has reached the medium or has not; all are clean now, if one asks the system.
void VirtualDisk::fail_sync(Node& file) {
  ++failed_syncs_;
  std::vector<std::size_t> lost;
  for (const std::size_t sector : file.worn) {
    if (file.sectors[sector] == Sector::dirty && lost_() % 2 == 0) {
      put_on_medium(file, sector);
      file.sectors[sector] = Sector::clean;
      continue;
    }
    file.sectors[sector] = Sector::lost;
    lost.push_back(sector);
  }
  file.worn = std::move(lost);
}

// What differs between the cache and the medium, name by name: durable now, but for what is lost.
void VirtualDisk::sync_names(Node& directory) {
  auto durable = directory.entries;
  for (const std::string& name : directory.lost) {
    const auto before = directory.durable.find(name);
    if (before == directory.durable.end()) {
      durable.erase(name);
    } else {
      durable.insert_or_assign(name, before->second);
    }
  }
  directory.durable = std::move(durable);
}

void VirtualDisk::fail_sync_names(Node& directory) {
  ++failed_syncs_;
  const auto same = [](const auto& here, const auto& there, const std::string& name) {
    const auto found = there.find(name);
    return found != there.end() && found->second == here;
  };
  std::vector<std::string> differ;
  for (const auto& [name, node] : directory.entries) {
    if (!same(node, directory.durable, name)) differ.push_back(name);
  }
  for (const auto& [name, node] : directory.durable) {
    if (!directory.entries.contains(name)) differ.push_back(name);
  }
  for (std::string& name : differ) {
    if (lost_() % 2 == 0) directory.lost.insert(std::move(name));
  }
}

// -- files

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

// -- the disk

VirtualDisk::VirtualDisk(std::shared_ptr<Faults> faults) : faults_(std::move(faults)) {
  root_->is_directory = true;
}

std::unique_ptr<Directory> VirtualDisk::root() {
  return std::make_unique<OpenDirectory>(*this, root_, "disk:");
}

void VirtualDisk::set_capacity(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  capacity_ = bytes;
}

std::uint64_t VirtualDisk::used_bytes() const {
  const std::scoped_lock lock(mutex_);
  return used(*root_);
}

std::uint64_t VirtualDisk::failed_syncs() const {
  const std::scoped_lock lock(mutex_);
  return failed_syncs_;
}

void VirtualDisk::forget_failed_syncs() {
  const std::scoped_lock lock(mutex_);
  failed_syncs_ = 0;
}

bool VirtualDisk::flip(std::string_view name, std::uint64_t offset, std::uint8_t bits) {
  const std::scoped_lock lock(mutex_);
  const auto found = root_->entries.find(name);
  if (found == root_->entries.end() || offset >= found->second->now.size()) return false;
  const auto turn = [&](std::string& bytes) {
    if (offset < bytes.size()) {
      bytes[offset] = static_cast<char>(static_cast<std::uint8_t>(bytes[offset]) ^ bits);
    }
  };
  turn(found->second->now);
  turn(found->second->disk);
  return true;
}

VirtualDisk::NodePtr VirtualDisk::copy(const Node& node) {
  auto made = std::make_shared<Node>();
  made->is_directory = node.is_directory;
  made->now = made->disk = node.now;
  made->sectors.assign(node.sectors.size(), Sector::clean);
  made->written_end = made->synced_end = node.written_end;
  for (const auto& [name, entry] : node.entries) made->entries.emplace(name, copy(*entry));
  made->durable = made->entries;
  return made;
}

std::unique_ptr<VirtualDisk> VirtualDisk::copy() const {
  const std::scoped_lock lock(mutex_);
  auto disk = std::make_unique<VirtualDisk>();
  disk->root_ = copy(*root_);
  return disk;
}

// -- crashes

template <typename F>
void VirtualDisk::each_file(Node& directory, const F& f) {
  for (auto& [name, node] : directory.entries) {
    if (node->is_directory) {
      each_file(*node, f);
    } else {
      f(*node);
    }
  }
}

void VirtualDisk::evict_names(Node& directory, std::mt19937_64& random) {
  std::erase_if(directory.lost, [&](const std::string& name) {
    if (random() % 2 == 0) return false;
    const auto before = directory.durable.find(name);
    if (before == directory.durable.end()) {
      directory.entries.erase(name);
    } else {
      directory.entries.insert_or_assign(name, before->second);
    }
    ++damage_.names_lost;
    return true;
  });
  for (auto& [name, node] : directory.entries) {
    if (node->is_directory) evict_names(*node, random);
  }
}

void VirtualDisk::kill(std::uint64_t seed) {
  const std::scoped_lock lock(mutex_);
  std::mt19937_64 random(seed);
  evict_names(*root_, random);
  each_file(*root_, [&](Node& file) {
    std::erase_if(file.worn, [&](std::size_t sector) {
      if (file.sectors[sector] != Sector::lost || random() % 2 == 0) return false;
      std::string old(piece(file.disk, sector));
      old.resize(piece(file.now, sector).size(), '\0');
      file.now.replace(sector * kSector, old.size(), old);
      file.sectors[sector] = Sector::clean;
      ++damage_.sectors_evicted;
      return true;
    });
  });
}

void VirtualDisk::tear(Node& file, std::mt19937_64& random) {
  std::string bytes = file.disk;
  if (file.now.size() != bytes.size()) {
    if (random() % 2 == 0) {
      bytes.resize(file.now.size(), '\0');
    } else {
      ++damage_.sizes_lost;
    }
  }
  for (const std::size_t sector : file.worn) {
    const std::size_t at = sector * kSector;
    if (at >= bytes.size()) continue;
    if (file.sectors[sector] == Sector::lost) {
      ++damage_.sectors_evicted;
      continue;
    }
    const std::size_t size = std::min(kSector, bytes.size() - at);
    std::string fresh(piece(file.now, sector));
    fresh.resize(size, '\0');
    const bool virgin = at >= file.synced_end;
    switch (random() % (virgin ? 4 : 2)) {
      case 0: ++damage_.sectors_dropped; break;
      case 1:
        bytes.replace(at, size, fresh);
        ++damage_.sectors_kept;
        break;
      case 2:
        bytes.replace(at, size, std::string(size, '\0'));
        ++damage_.sectors_zeroed;
        break;
      default:
        for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(random());
        ++damage_.sectors_garbled;
        break;
    }
  }
  file.now = file.disk = std::move(bytes);
  file.sectors.assign(sectors_of(file.now.size()), Sector::clean);
  file.worn.clear();
  file.written_end = file.synced_end = file.now.size();
}

void VirtualDisk::tear_names(Node& directory, std::mt19937_64& random) {
  auto names = directory.durable;
  for (const auto& [name, node] : directory.entries) {
    if (names.contains(name)) {
      if (!directory.lost.contains(name)) names[name] = node;  // replaced or the same
    } else if (!directory.lost.contains(name) && random() % 2 == 0) {
      names.emplace(name, node);
    } else {
      ++damage_.names_lost;
    }
  }
  for (const auto& [name, node] : directory.durable) {
    if (directory.entries.contains(name)) continue;
    if (!directory.lost.contains(name) && random() % 2 == 0) {
      names.erase(name);
    } else {
      ++damage_.names_back;
    }
  }
  directory.entries = directory.durable = std::move(names);
  directory.lost.clear();
  for (auto& [name, node] : directory.entries) {
    if (node->is_directory) tear_names(*node, random);
  }
}

void VirtualDisk::lose_power(std::uint64_t seed) {
  const std::scoped_lock lock(mutex_);
  std::mt19937_64 random(seed);
  tear_names(*root_, random);
  each_file(*root_, [&](Node& file) { tear(file, random); });
}

void VirtualDisk::drop_unsynced() {
  const std::scoped_lock lock(mutex_);
  const auto drop = [](const auto& self, Node& directory) -> void {
    directory.entries = directory.durable;
    directory.lost.clear();
    for (auto& [name, node] : directory.entries) {
      if (node->is_directory) self(self, *node);
    }
  };
  drop(drop, *root_);
  each_file(*root_, [](Node& file) {
    file.now = file.disk;
    file.sectors.assign(sectors_of(file.now.size()), Sector::clean);
    file.worn.clear();
    file.written_end = file.synced_end;
  });
}

}  // namespace tarry::storage
