// For tests: a disk in RAM that knows what of it would survive. Contents become durable by
// sync_data(), names by the sync() of their directory; sizes move on their own. Then the process
// may be killed, or the power fail.
//
// What a power failure leaves of everything that was not synced: each 512-byte sector, size and
// name is the new or the old one; a sector that held nothing durable may also be zeros or garbage.
// (One that did is written whole or not at all: docs/formats/journal.md, "What it relies on".)
//
// A sync that fails is as Linux has it: what was dirty is called clean, and part of it never
// reached the medium. The next sync says nothing of that and succeeds. The cache still shows the
// new bytes, until the process ends: then they may have been evicted. The same with names; but the
// next change of the directory dirties its block again, and all that is in it.
//
// Faults, where given, count the calls as in faulty_storage.h.
//
// Thread safety: any thread, but `kill` and `lose_power`, before which all that was opened must be
// gone, or at least used no more.
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
  static constexpr std::size_t kPage = 4096;  // what files take of the capacity in

  /// What crashes did so far, by kind.
  struct Damage {
    std::uint64_t sectors_kept = 0;
    std::uint64_t sectors_dropped = 0;
    std::uint64_t sectors_zeroed = 0;
    std::uint64_t sectors_garbled = 0;
    std::uint64_t sectors_evicted = 0;  // written, called clean by a failed sync, gone
    std::uint64_t sizes_lost = 0;
    std::uint64_t names_lost = 0;  // made, and not there
    std::uint64_t names_back = 0;  // removed, and there again
  };

  explicit VirtualDisk(std::shared_ptr<Faults> faults = nullptr);
  VirtualDisk(const VirtualDisk&) = delete;
  VirtualDisk& operator=(const VirtualDisk&) = delete;

  /// The root directory; every call gives another handle on the same one.
  [[nodiscard]] std::unique_ptr<Directory> root();

  /// May be set below what is used: then the disk is full until enough is freed. Room that
  /// allocate() gave is kept.
  void set_capacity(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t used_bytes() const;

  /// The process ends, the machine goes on: what was written is there, but for what a failed sync
  /// lost and the cache has dropped since. `seed` draws which.
  void kill(std::uint64_t seed);
  /// The machine ends. `seed` draws what is left of what was not synced.
  void lose_power(std::uint64_t seed);
  /// Nothing is left but what was synced: the least that a power failure may leave.
  void drop_unsynced();

  /// Bit rot: turns bits over, on the medium and in the cache. False where the file is not so long.
  bool flip(std::string_view name, std::uint64_t offset, std::uint8_t bits);

  /// Another disk with the same contents, all of them durable.
  [[nodiscard]] std::unique_ptr<VirtualDisk> copy() const;
  /// Another disk with what was synced, and nothing else.
  [[nodiscard]] std::unique_ptr<VirtualDisk> synced_copy() const;

  [[nodiscard]] const Damage& damage() const noexcept { return damage_; }
  /// How many syncs failed, of data or names, since the last call of the other.
  [[nodiscard]] std::uint64_t failed_syncs() const;
  void forget_failed_syncs();

 private:
  enum class Sector : std::uint8_t { clean, dirty, lost };
  struct Node {
    bool is_directory = false;
    // a file
    std::string now;                // as the cache has it
    std::string disk;               // as the medium has it
    std::vector<Sector> sectors;    // of `now`
    std::vector<std::size_t> worn;  // sectors that are not clean
    std::uint64_t written_end = 0;  // of what was ever written, as against allocated
    std::uint64_t synced_end = 0;   // that, at the last sync
    // a directory
    std::map<std::string, std::shared_ptr<Node>, std::less<>> entries;
    std::map<std::string, std::shared_ptr<Node>, std::less<>> durable;
    std::set<std::string, std::less<>> lost;  // made or removed, called clean by a failed sync
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
  std::mt19937_64 lost_{0x105E};  // which sectors a failed sync loses
  std::uint64_t capacity_ = UINT64_MAX;
  NodePtr root_ = std::make_shared<Node>();
  Damage damage_;
  std::uint64_t failed_syncs_ = 0;
};

}  // namespace tarry::storage
