// For tests: whole files and trees on the file seam, and a disk that can lose power.
//
// Thread safety: the functions none; CrashDisk: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "storage/memory_storage.h"
#include "storage/storage.h"

namespace tarry::embedded::test {

inline std::string read_all(storage::Directory& directory, std::string_view name) {
  auto file = directory.open(name, storage::OpenMode::read_only);
  TARRY_ASSERT(file.has_value());
  std::string bytes((*file)->size().value(), '\0');
  TARRY_ASSERT((*file)->read_at(0, bytes).value() == bytes.size());
  return bytes;
}

/// Makes the file, or replaces what is in it.
inline void write_all(storage::Directory& directory, std::string_view name,
                      std::string_view bytes) {
  auto file = directory.open(name, storage::OpenMode::read_write);
  if (!file) file = directory.open(name, storage::OpenMode::create_new);
  TARRY_ASSERT(file.has_value());
  TARRY_ASSERT((*file)->truncate(bytes.size()).has_value());
  TARRY_ASSERT((*file)->write_at(0, bytes).has_value());
}

inline bool has(storage::Directory& directory, std::string_view name) {
  return directory.open(name, storage::OpenMode::read_only).has_value();
}

inline void copy_tree(storage::Directory& from, storage::Directory& to) {
  const auto names = from.list();
  TARRY_ASSERT(names.has_value());
  for (const std::string& name : *names) {
    if (has(from, name)) {
      write_all(to, name, read_all(from, name));
    } else {
      copy_tree(*from.subdirectory(name, false).value(), *to.subdirectory(name, true).value());
    }
  }
}

inline std::unique_ptr<storage::MemoryDisk> copy_of(const storage::MemoryDisk& disk) {
  auto copy = std::make_unique<storage::MemoryDisk>();
  copy_tree(*disk.root(), *copy->root());
  return copy;
}

/// A disk that knows what of it was synced. Contents become durable by sync_data(), names by the
/// sync() of their directory; `lose_power` answers what may be left if nobody had the time to do
/// more: of everything else each 512-byte sector, size and name may be the new or the old, and a
/// sector that held nothing durable also zeros or garbage. (One that did is written whole or not at
/// all: docs/formats/journal.md, "What it relies on".) One level of subdirectories, durable at
/// once.
class CrashDisk {
 public:
  static constexpr std::size_t kSector = 512;

  CrashDisk() = default;
  /// What one crash left, to go on with.
  explicit CrashDisk(const storage::MemoryDisk& image) {
    copy_tree(*image.root(), *root());
    for (const auto& [name, folder] : root_->folders) all_synced(*folder);
    all_synced(*root_);
  }

  [[nodiscard]] std::unique_ptr<storage::Directory> root() {
    return std::make_unique<Handle>(*this, root_);
  }

  /// What is there now: what the end of the process leaves.
  [[nodiscard]] std::unique_ptr<storage::MemoryDisk> as_written() {
    return image([](const Content& content) { return content.now; },
                 [](const Folder& folder) { return folder.now; });
  }

  /// Nothing but what was synced.
  [[nodiscard]] std::unique_ptr<storage::MemoryDisk> as_synced() {
    return image([](const Content& content) { return content.synced; },
                 [](const Folder& folder) { return folder.synced; });
  }

  [[nodiscard]] std::unique_ptr<storage::MemoryDisk> lose_power(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    return image([&random](const Content& content) { return torn(content, random); },
                 [&random](const Folder& folder) { return torn(folder, random); });
  }

 private:
  struct Content {
    std::string now;
    std::string synced;
    std::uint64_t written_end = 0;  // of what was ever written, as against allocated
    std::uint64_t synced_end = 0;
  };
  using Names = std::map<std::string, std::shared_ptr<Content>>;
  struct Folder {
    Names now;
    Names synced;
    std::map<std::string, std::shared_ptr<Folder>> folders;
  };

  static void all_synced(Folder& folder) {
    for (const auto& [name, content] : folder.now) {
      content->synced = content->now;
      content->synced_end = content->written_end = content->now.size();
    }
    folder.synced = folder.now;
  }

  static std::string torn(const Content& content, std::mt19937_64& random) {
    const std::size_t before = content.synced.size();
    const std::size_t after = content.now.size();
    std::string bytes = content.synced;
    bytes.resize(random() % 2 == 0 ? after : before, '\0');
    for (std::size_t at = 0; at < bytes.size(); at += kSector) {
      const std::size_t size = std::min(kSector, bytes.size() - at);
      std::string fresh = at < after ? content.now.substr(at, size) : std::string();
      fresh.resize(size, '\0');
      std::string old = at < before ? content.synced.substr(at, size) : std::string();
      old.resize(size, '\0');
      if (fresh == old) continue;
      const bool virgin = at >= content.synced_end;
      switch (random() % (virgin ? 4 : 2)) {
        case 0: break;  // dropped
        case 1: bytes.replace(at, size, fresh); break;
        case 2: bytes.replace(at, size, std::string(size, '\0')); break;
        default:
          for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(random());
          break;
      }
    }
    return bytes;
  }

  static Names torn(const Folder& folder, std::mt19937_64& random) {
    Names names;
    for (const auto& [name, content] : folder.now) {
      if (folder.synced.contains(name) || random() % 2 == 0) names[name] = content;
    }
    for (const auto& [name, content] : folder.synced) {
      if (!folder.now.contains(name) && random() % 2 == 0) names[name] = content;
    }
    return names;
  }

  template <typename OfContent, typename OfFolder>
  std::unique_ptr<storage::MemoryDisk> image(OfContent of_content, OfFolder of_folder) {
    const std::scoped_lock lock(mutex_);
    auto disk = std::make_unique<storage::MemoryDisk>();
    const auto put = [&](const Folder& folder, storage::Directory& to) {
      for (const auto& [name, content] : of_folder(folder)) {
        write_all(to, name, of_content(*content));
      }
    };
    const auto root = disk->root();
    put(*root_, *root);
    for (const auto& [name, folder] : root_->folders) {
      put(*folder, *root->subdirectory(name, true).value());
    }
    return disk;
  }

  class Open final : public storage::File {
   public:
    Open(CrashDisk& disk, std::shared_ptr<Content> content)
        : disk_(&disk), content_(std::move(content)) {}

    Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
      const std::scoped_lock lock(disk_->mutex_);
      std::string& now = content_->now;
      if (now.size() < offset + bytes.size()) now.resize(offset + bytes.size(), '\0');
      now.replace(offset, bytes.size(), bytes);
      content_->written_end = std::max<std::uint64_t>(content_->written_end, offset + bytes.size());
      return {};
    }
    Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) override {
      std::string all;
      for (const std::string_view piece : pieces) all.append(piece);
      return write_at(offset, all);
    }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
      const std::scoped_lock lock(disk_->mutex_);
      const std::string& now = content_->now;
      if (offset >= now.size()) return std::size_t{0};
      return now.copy(into.data(), into.size(), offset);
    }
    Result<void> sync_data() override {
      const std::scoped_lock lock(disk_->mutex_);
      content_->synced = content_->now;
      content_->synced_end = content_->written_end;
      return {};
    }
    Result<void> allocate(std::uint64_t size) override {
      const std::scoped_lock lock(disk_->mutex_);
      if (content_->now.size() < size) content_->now.resize(size, '\0');
      return {};
    }
    Result<void> truncate(std::uint64_t size) override {
      const std::scoped_lock lock(disk_->mutex_);
      content_->now.resize(size, '\0');
      return {};
    }
    Result<std::uint64_t> size() const override {
      const std::scoped_lock lock(disk_->mutex_);
      return std::uint64_t{content_->now.size()};
    }
    void will_need(std::uint64_t /*offset*/, std::uint64_t /*length*/) const override {}

   private:
    CrashDisk* disk_;
    std::shared_ptr<Content> content_;
  };

  class Handle final : public storage::Directory {
   public:
    Handle(CrashDisk& disk, std::shared_ptr<Folder> folder)
        : disk_(&disk), folder_(std::move(folder)) {}

    Result<std::unique_ptr<storage::File>> open(std::string_view name,
                                                storage::OpenMode mode) override {
      const std::scoped_lock lock(disk_->mutex_);
      const auto found = folder_->now.find(std::string(name));
      const bool create = mode == storage::OpenMode::create_new;
      if (create != (found == folder_->now.end())) {
        return Unexpected(create ? ErrorCode::conflict : ErrorCode::not_found, std::string(name));
      }
      auto content = create ? std::make_shared<Content>() : found->second;
      if (create) folder_->now[std::string(name)] = content;
      return std::unique_ptr<storage::File>(new Open(*disk_, std::move(content)));
    }
    Result<std::vector<std::string>> list() const override {
      const std::scoped_lock lock(disk_->mutex_);
      std::vector<std::string> names;
      for (const auto& [name, content] : folder_->now) names.push_back(name);
      for (const auto& [name, folder] : folder_->folders) names.push_back(name);
      return names;
    }
    Result<void> remove(std::string_view name) override {
      const std::scoped_lock lock(disk_->mutex_);
      if (folder_->now.erase(std::string(name)) == 1) return {};
      return Unexpected(ErrorCode::not_found, std::string(name));
    }
    Result<void> rename(std::string_view from, std::string_view to) override {
      const std::scoped_lock lock(disk_->mutex_);
      const auto found = folder_->now.find(std::string(from));
      if (found == folder_->now.end()) {
        return Unexpected(ErrorCode::not_found, std::string(from));
      }
      folder_->now[std::string(to)] = found->second;
      folder_->now.erase(std::string(from));
      return {};
    }
    Result<void> sync() override {
      const std::scoped_lock lock(disk_->mutex_);
      folder_->synced = folder_->now;
      return {};
    }
    Result<std::unique_ptr<storage::Directory>> subdirectory(std::string_view name,
                                                             bool create) override {
      const std::scoped_lock lock(disk_->mutex_);
      auto& folder = folder_->folders[std::string(name)];
      if (!folder && !create) return Unexpected(ErrorCode::not_found, std::string(name));
      if (!folder) folder = std::make_shared<Folder>();
      return std::unique_ptr<storage::Directory>(new Handle(*disk_, folder));
    }
    Result<std::unique_ptr<storage::Lock>> lock(std::string_view /*name*/,
                                                std::string_view /*holder*/) override {
      return std::make_unique<storage::Lock>();
    }
    Result<std::unique_ptr<storage::Lock>> lock_shared(std::string_view /*name*/) override {
      return std::make_unique<storage::Lock>();
    }
    Result<storage::Space> space() const override { return storage::Space{UINT64_MAX, UINT64_MAX}; }
    std::string path() const override { return "crash:"; }

   private:
    CrashDisk* disk_;
    std::shared_ptr<Folder> folder_;
  };

  std::mutex mutex_;
  std::shared_ptr<Folder> root_ = std::make_shared<Folder>();
};

}  // namespace tarry::embedded::test
