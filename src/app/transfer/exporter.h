// Export: writes a store's contents as lines (transfer/line.h), queues first. The store may be in
// use meanwhile: a message that exists from beginning to end is written once, in its state at that
// moment. Messages that are gone by then are left out, and so are cancelled ones that end with
// their delivery. Lists of layouts go by due time, so messages that move meanwhile may be missing.
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
  std::vector<std::string> queues;  // empty: all queues
  std::uint32_t page = 500;         // messages that are asked for at once
  std::uint32_t version = kExportVersion;
  std::stop_token stop = {};
  /// Messages written so far, and to be written in all, as far as is known.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  /// To continue after the lines that are written already, the first ones included; null: from the
  /// beginning.
  const ExportMark* from = nullptr;
  /// With `from`: visits each line that is written, until the visit fails.
  std::function<Result<void>(const Visit& visit)> written = {};
  /// Called with the progress, after each page and when it is stopped.
  std::function<Result<void>(const ExportMark&)> mark = {};
};

/// `write` takes a line without its newline. Errors: the engine's, `write`'s, `mark`'s; `not_found`
/// for a missing queue; `closed` if it was stopped.
[[nodiscard]] Result<ExportReport> export_store(core::Engine& engine, const ExportOptions& options,
                                                const Visit& write);

}  // namespace tarry::app::transfer
