// Export: writes a store's contents as lines (transfer/line.h), queues first. The store may be in
// use meanwhile: a message that exists during the whole export is written once, in its state at the
// time of writing. Messages that have ended by then are left out, and so are cancelled messages
// whose last delivery is still running. A layout lists by due time, so messages that are moved
// meanwhile may be missing.
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
  std::uint32_t page = 500;         // messages in each request
  std::uint32_t version = kExportVersion;
  std::stop_token stop = {};
  /// Called with the number of messages written so far and, as far as is known, in total.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  /// The mark of an earlier run, to continue after the lines that it wrote (including the first
  /// ones); null: start from the beginning.
  const ExportMark* from = nullptr;
  /// Used only with `from`: calls `visit` with each line that was already written, until it fails.
  std::function<Result<void>(const Visit& visit)> written = {};
  /// Called with the current mark after each page, and when the export is stopped.
  std::function<Result<void>(const ExportMark&)> mark = {};
};

/// `write` gets each line without its newline. Errors: those of the engine, of `write` and of
/// `mark`; `not_found` for a missing queue; `closed` if the export was stopped.
[[nodiscard]] Result<ExportReport> export_store(core::Engine& engine, const ExportOptions& options,
                                                const Visit& write);

}  // namespace tarry::app::transfer
