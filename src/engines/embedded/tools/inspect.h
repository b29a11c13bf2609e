// Looks at a store's directory without opening it as a store: read-only, nothing is changed.
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
  std::uint64_t torn_bytes = 0;   // a tail that recovery would cut
  std::uint64_t cut_batches = 0;  // intact batches after bytes that are not
  std::string tear;               // of torn_bytes: describe_tear
  bool clean = false;             // closed clean
  std::uint64_t messages = 0;     // scheduled, ready, leased or dead
  std::vector<std::string>
      problems;  // problems for which recovery would refuse it, each with file and offset
  std::optional<Error> unreadable;  // why; the figures say nothing then
};

struct StoreInspection {
  std::uint32_t version = 0;
  std::uint64_t store_id = 0;
  std::uint32_t shards = 0;
  std::string held_by;  // not empty: a process holds the store now, figures may move
  std::vector<ShardInspection> per_shard;
};

/// One shard of a store, the same way; progress in bytes since the last call. A process may have it
/// open, so a problem counts only if a second look finds it too. Errors: why it cannot be read,
/// which says nothing about its contents; `unavailable` if no two looks found the same.
[[nodiscard]] Result<ShardInspection> inspect_shard(
    storage::Directory& directory, const StoreIdentity& identity, std::uint32_t number, bool deep,
    const std::function<void(std::uint64_t)>& progress);

/// Reads every batch of every segment, checks it and replays its records, as recovery does. `deep`
/// also checks every message's payload. Other processes may open the store meanwhile. Errors:
/// reasons why the directory is no store at all; the errors of `inspect_shard` stand with the
/// shard.
[[nodiscard]] Result<StoreInspection> inspect(
    const std::string& path, bool deep,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {});

}  // namespace tarry::embedded
