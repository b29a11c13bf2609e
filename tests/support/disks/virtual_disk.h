// For tests: a disk in RAM that knows which of its bytes and names would survive a crash. Contents
// become durable by sync_data(), names by the sync() of their directory; sizes may become durable
// at any time. A test may then kill the process, or let the power fail.
//
// After a power failure, each 512-byte sector, size and name that was not synced is either the new
// or the old one. A sector that had no durable bytes may also be zeros or garbage. (A sector that
// had some is written whole or not at all: docs/formats/journal.md, "What it relies on".)
//
// A failed sync behaves as on Linux: dirty sectors are marked clean, although some never reached
// the medium. The next sync succeeds and does not report the loss. The cache still shows the new
// bytes; when the process ends, they may be gone. The same holds for names, but the next change of
// the directory makes its whole block dirty again.
//
// If Faults are given, they count the calls as in faulty_storage.h.
//
// Thread safety: any thread. Exception: when `kill` or `lose_power` is called, nothing that was
// opened before may be used any more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/storage.h"
#include "support/disks/faulty_storage.h"

namespace tarry::storage {

class VirtualDisk {
 public:
  static constexpr std::size_t kSector = 512;
  static constexpr std::size_t kPage = 4096;  // files take capacity in steps of this many bytes

  /// The damage of all crashes so far, by kind.
  struct Damage {
    std::uint64_t sectors_kept = 0;
    std::uint64_t sectors_dropped = 0;
    std::uint64_t sectors_zeroed = 0;
    std::uint64_t sectors_garbled = 0;
    std::uint64_t sectors_evicted = 0;  // written, marked clean by a failed sync, then lost
    std::uint64_t sizes_lost = 0;
    std::uint64_t names_lost = 0;  // made, but gone after the crash
    std::uint64_t names_back = 0;  // removed, but there again after the crash
  };

  explicit VirtualDisk(std::shared_ptr<Faults> faults = nullptr);
  VirtualDisk(const VirtualDisk&) = delete;
  VirtualDisk& operator=(const VirtualDisk&) = delete;

  /// The root directory. Every call returns another handle of the same directory.
  [[nodiscard]] std::unique_ptr<Directory> root();

  /// May be set below the used bytes; the disk is then full until enough is freed. Space that
  /// allocate() reserved is kept.
  void set_capacity(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t used_bytes() const;

  /// The process ends, but the machine keeps running. Everything that was written is there, except
  /// what a failed sync lost and the cache has dropped since; `seed` decides which.
  void kill(std::uint64_t seed);
  /// The machine loses power. `seed` decides which parts survive of those that were not synced.
  void lose_power(std::uint64_t seed);
  /// Keeps only what was synced: the least that a power failure may leave.
  void drop_unsynced();

  /// Bit rot: flips bits, on the medium and in the cache. False if the file is shorter.
  bool flip(std::string_view name, std::uint64_t offset, std::uint8_t bits);

  /// Another disk with the same contents, all of them durable.
  [[nodiscard]] std::unique_ptr<VirtualDisk> copy() const;
  /// Another disk that contains only the bytes and names that were synced.
  [[nodiscard]] std::unique_ptr<VirtualDisk> synced_copy() const;

  [[nodiscard]] const Damage& damage() const noexcept { return damage_; }
  /// How many syncs of data or names have failed since the last forget_failed_syncs().
  [[nodiscard]] std::uint64_t failed_syncs() const;
  void forget_failed_syncs();

 private:
  enum class Sector : std::uint8_t { clean, dirty, lost };
  struct Node {
    bool is_directory = false;
    // of a file
    std::string now;                // the contents in the cache
    std::string disk;               // the contents on the medium
    std::vector<Sector> sectors;    // the sectors of `now`
    std::vector<std::size_t> worn;  // sectors that are not clean
    std::uint64_t written_end = 0;  // the end of the written bytes; space may be reserved beyond it
    std::uint64_t synced_end = 0;   // written_end at the last sync
    // of a directory
    std::map<std::string, std::shared_ptr<Node>, std::less<>> entries;
    std::map<std::string, std::shared_ptr<Node>, std::less<>> durable;
    // Names made or removed, and marked clean by a failed sync.
    std::set<std::string, std::less<>> lost;
  };
  using NodePtr = std::shared_ptr<Node>;
  class OpenFile;
  class OpenDirectory;

  [[nodiscard]] static std::size_t sectors_of(std::uint64_t bytes);
  [[nodiscard]] static std::string_view piece(const std::string& bytes, std::size_t sector);
  [[nodiscard]] std::optional<Error> fault(Faults::Kind kind, std::string_view what);
  [[nodiscard]] bool short_writes() const;
  [[nodiscard]] bool dead() const;
  [[nodiscard]] Result<void> reserve(const Node& file, std::uint64_t size) const;
  static void resize(Node& file, std::uint64_t size);
  static void write(Node& file, std::uint64_t offset, std::string_view bytes);
  static void put_on_medium(Node& file, std::size_t sector);
  static void sync_file(Node& file);
  void fail_sync(Node& file);
  void sync_names(Node& directory);
  void fail_sync_names(Node& directory);
  template <typename F>
  void each_file(Node& directory, const F& f);
  void evict_names(Node& directory, std::mt19937_64& random);
  void tear(Node& file, std::mt19937_64& random);
  void tear_names(Node& directory, std::mt19937_64& random);
  static std::uint64_t used(const Node& directory);
  enum class Of : std::uint8_t { now, synced };
  static NodePtr copy(const Node& node, Of of);
  [[nodiscard]] std::unique_ptr<VirtualDisk> copy(Of of) const;

  mutable std::mutex mutex_;
  std::shared_ptr<Faults> faults_;
  std::mt19937_64 lost_{0x105E};  // decides which sectors a failed sync loses
  std::uint64_t capacity_ = UINT64_MAX;
  NodePtr root_ = std::make_shared<Node>();
  Damage damage_;
  std::uint64_t failed_syncs_ = 0;
};

}  // namespace tarry::storage
