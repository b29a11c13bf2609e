#include "support/disks/virtual_disk.h"

#include <algorithm>
#include <utility>

namespace tarry::storage {
namespace {

std::uint64_t pages_of(std::uint64_t bytes) {
  return (bytes + VirtualDisk::kPage - 1) / VirtualDisk::kPage * VirtualDisk::kPage;
}

}  // namespace

std::size_t VirtualDisk::sectors_of(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + kSector - 1) / kSector);
}

std::string_view VirtualDisk::piece(const std::string& bytes, std::size_t sector) {
  const std::size_t at = sector * kSector;
  return at < bytes.size() ? std::string_view(bytes).substr(at, kSector) : std::string_view();
}

VirtualDisk::VirtualDisk(std::shared_ptr<Faults> faults) : faults_(std::move(faults)) {
  root_->is_directory = true;
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

VirtualDisk::NodePtr VirtualDisk::copy(const Node& node, Of of) {
  auto made = std::make_shared<Node>();
  made->is_directory = node.is_directory;
  made->now = made->disk = of == Of::now ? node.now : node.disk;
  made->sectors.assign(sectors_of(made->now.size()), Sector::clean);
  made->written_end = made->synced_end = of == Of::now ? node.written_end : node.synced_end;
  for (const auto& [name, entry] : of == Of::now ? node.entries : node.durable) {
    made->entries.emplace(name, copy(*entry, of));
  }
  made->durable = made->entries;
  return made;
}

std::unique_ptr<VirtualDisk> VirtualDisk::copy(Of of) const {
  const std::scoped_lock lock(mutex_);
  auto disk = std::make_unique<VirtualDisk>();
  disk->root_ = copy(*root_, of);
  return disk;
}

std::unique_ptr<VirtualDisk> VirtualDisk::copy() const { return copy(Of::now); }

std::unique_ptr<VirtualDisk> VirtualDisk::synced_copy() const { return copy(Of::synced); }

// -- operations on the tree

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

// Each dirty sector has either reached the medium or not. From now on the system reports all of
// them as clean.
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

// Makes the names of the cache durable, except those that a failed sync has lost.
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

}  // namespace tarry::storage
