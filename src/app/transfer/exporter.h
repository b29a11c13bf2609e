// Export: writes what a store holds as lines (transfer/line.h), queues first. The store may be in
// use meanwhile: what is there from beginning to end is written once, as it is when its turn comes.
// Left out is what has gone by then, or was cancelled and goes when its delivery ends. Lists of
// layouts go by due time: of these, what is moved meanwhile may be missing.
//
// Thread safety: blocks the thread that calls it; `write` and `progress` run on that thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "app/transfer/export_mark.h"
#include "app/transfer/line.h"
#include "core/engine.h"

namespace tarry::app::transfer {

using Visit = std::function<Result<void>(std::string_view line)>;

struct ExportOptions {
  std::vector<std::string> queues;  // empty: all that there are
  std::uint32_t page = 500;         // messages that are asked for at once
  std::uint32_t version = kExportVersion;
  std::stop_token stop = {};
  /// Messages written so far, and to be written in all, as far as is known.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  /// To go on with what is written already, its first lines included; null: from the beginning.
  const ExportMark* from = nullptr;
  /// With `from`: visits each line that is written, until the visit fails.
  std::function<Result<void>(const Visit& visit)> written = {};
  /// Told how far it has come, after each page and where it is stopped.
  std::function<Result<void>(const ExportMark&)> mark = {};
};

/// `write` takes a line without its newline. Errors: the engine's, `write`'s, `mark`'s; `not_found`
/// for a queue that is not there; `closed` where it was stopped.
[[nodiscard]] Result<ExportReport> export_store(core::Engine& engine, const ExportOptions& options,
                                                const Visit& write);

}  // namespace tarry::app::transfer
