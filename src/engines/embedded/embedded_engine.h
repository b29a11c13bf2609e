// The embedded engine: `memory:` and `file:`. A shard is a deterministic state machine that one
// thread runs; its journal makes it durable. This header is all that the rest of tarry sees.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <tarry/log.h>
#include <tarry/result.h>

#include "core/engine.h"
#include "core/limits.h"
#include "engines/embedded/journal/sync_policy.h"
#include "storage/storage.h"
#include "timing/clock.h"

namespace tarry::embedded {

struct EmbeddedOptions {
  std::string path;  // empty: in RAM
  SyncPolicy sync = SyncPolicy::always;
  std::uint32_t shards = 0;                 // 0: as many as the store has, 1 for a new store
  std::uint64_t segment_bytes = 0;          // 64 KiB .. 256 MiB; 0: 64 MiB, less on a small disk
  std::uint64_t memory_bytes = UINT64_MAX;  // capacity in RAM; only if `path` is empty
  core::Limits limits;
  std::function<std::unique_ptr<storage::Directory>()> directory;  // for tests: instead of `path`
  std::shared_ptr<const timing::Clock> clock;                      // empty: the machine's
  std::string holder;                                              // for the lock; empty: "pid N"
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // of recovery, in bytes
  Log log;  // messages for the operator; called by any thread
};

/// Opens the store, or makes a new one. Errors: `conflict` (another process holds it),
/// `invalid_argument` (not a store, options out of range, shards differ), `unsupported` (a newer
/// version), `damaged` (file and offset in the message), `permission_denied`, `io_error`,
/// `no_space`.
[[nodiscard]] Result<std::unique_ptr<core::Engine>> open_embedded(EmbeddedOptions options);

}  // namespace tarry::embedded
