// Looks at a store's directory without opening it as a store. It only reads, and changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/store/store_files.h"
#include "storage/storage.h"

namespace tarry::embedded {

struct ShardInspection {
  std::uint32_t shard = 0;
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;      // journal bytes in use
  std::uint64_t allocated = 0;  // on disk, reserve included
  std::uint64_t batches = 0;
  std::uint64_t records = 0;
  std::uint64_t torn_bytes = 0;   // the tail that recovery would cut
  std::uint64_t cut_batches = 0;  // intact batches after the first damaged byte
  std::string tear;               // describe_tear of the torn bytes
  bool clean = false;             // the last run closed it cleanly
  std::uint64_t messages = 0;     // scheduled, ready, leased or dead
  // Problems for which recovery would refuse the shard, each with file and offset.
  std::vector<std::string> problems;
  std::optional<Error> unreadable;  // why it cannot be read; then the figures mean nothing
};

struct StoreInspection {
  std::uint32_t version = 0;
  std::uint64_t store_id = 0;
  std::uint32_t shards = 0;
  std::string held_by;  // not empty: this process holds the store, so figures may change
  std::vector<ShardInspection> per_shard;
};

/// Inspects one shard, as `inspect` does every shard. `progress` gets the bytes read since the last
/// call. A process may have the store open, so a problem counts only if a second look finds it too.
/// Errors: the reason why the shard cannot be read, which says nothing about its contents;
/// `unavailable` if no two looks agreed.
[[nodiscard]] Result<ShardInspection> inspect_shard(
    storage::Directory& directory, const StoreIdentity& identity, std::uint32_t number, bool deep,
    const std::function<void(std::uint64_t)>& progress);

/// Reads every batch of every segment, checks it and replays its records, as recovery does. `deep`
/// also checks every message's payload. Other processes may open the store meanwhile. Errors: the
/// reason why the directory is no store at all. Errors of `inspect_shard` go into the shard's
/// `unreadable`.
[[nodiscard]] Result<StoreInspection> inspect(
    const std::string& path, bool deep,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {});

}  // namespace tarry::embedded
