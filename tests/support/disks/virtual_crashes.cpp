// The state of a VirtualDisk after the process ended or the power failed.
#include <algorithm>
#include <utility>

#include "support/disks/virtual_disk.h"

namespace tarry::storage {

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
      // The name was replaced, or has not changed.
      if (!directory.lost.contains(name)) names[name] = node;
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
