// For the command line's `store` verbs, which need more than a Store provides: the state of its
// files, and whether its counters add up.
//
// Thread safe: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>
#include <tarry/settings.h>
#include <tarry/store.h>

#include "engines/embedded/tools/backup.h"
#include "engines/embedded/tools/inspect.h"
#include "engines/embedded/tools/salvage.h"

namespace tarry::tools {

using embedded::BackupReport;
using embedded::Loss;
using embedded::SalvagedShard;
using embedded::SalvageReport;
using embedded::ShardInspection;
using embedded::StoreInspection;

/// The directory that a file: URL names. Errors: as `tarry::open`; `unsupported` for other stores.
[[nodiscard]] Result<std::string> path_of_store(std::string_view url);

/// The directory that `word` names: the path of a file: URL, or the word itself. Errors for URLs:
/// those of `path_of_store`.
[[nodiscard]] Result<std::string> directory_of(const std::string& word);

/// Checks that the directory holds a store. Errors: `not_found` if it is missing or empty,
/// otherwise the reason why it is not a store.
[[nodiscard]] Result<void> require_store(const std::string& path);

/// Whether a new store may be made there. Errors: `invalid_argument` if the path is inside another
/// store: copying or removing that store would include it.
[[nodiscard]] Result<void> check_new_place(const std::string& path);

struct StoreFormat {
  std::uint32_t version = 0;  // the store's version
  std::uint32_t newest = 0;   // the newest version that this program writes
};

/// Reads no journal. Errors: those of `require_store`; `unsupported` for a newer version.
[[nodiscard]] Result<StoreFormat> format_of_store(const std::string& path);

/// Upgrades the store: once it is opened again, this program writes the newest version of the
/// format. Existing data stays as it is, and stays readable. A store that has that version is not
/// changed. Errors: as above; `conflict` if a process has the store open; `io_error`; `no_space`.
[[nodiscard]] Result<StoreFormat> upgrade_store(const std::string& path);

/// Reads and checks every batch of the store in that directory, without changing or opening it.
/// `deep` checks every message's payload too.
[[nodiscard]] Result<StoreInspection> inspect_store(const std::string& path, bool deep,
                                                    const Progress& progress = {});

/// Makes a new store in directory `target` from the intact parts of the store in directory `path`.
/// Creates `target`; if it exists, it must be empty. Changes nothing in `path`. Errors: those of
/// `embedded::salvage`; `not_found` if `path` is missing.
[[nodiscard]] Result<SalvageReport> salvage_store(const std::string& path,
                                                  const std::string& target,
                                                  const Progress& progress = {});

/// Copies the store in directory `path` to directory `target`, even while the store is open
/// (`embedded::backup`). Creates `target`; if it exists, it must be empty. Errors: those of
/// `embedded::backup`; `not_found` if there is no store.
[[nodiscard]] Result<BackupReport> backup_store(const std::string& path, const std::string& target,
                                                const Progress& progress = {});

/// Guarantee 9 for one queue: every accepted message is present, or was counted when it ended.
struct QueueAudit {
  std::string queue;
  std::uint64_t accepted = 0;
  std::uint64_t present = 0;  // scheduled, ready, leased, dead
  std::uint64_t ended = 0;    // acked, cancelled, replaced, expired, purged, moved away
  /// accepted - present - ended. Above 0, messages are missing; below 0, there are too many.
  [[nodiscard]] std::int64_t difference() const noexcept {
    return static_cast<std::int64_t>(accepted - present - ended);
  }
};

struct StoreAudit {
  std::vector<QueueAudit> queues;  // in the order of the statistics
  [[nodiscard]] bool balanced() const noexcept;
};

[[nodiscard]] StoreAudit audit(const StoreStats& stats);

}  // namespace tarry::tools
