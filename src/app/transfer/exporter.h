// Export: writes what a store holds as lines (transfer/line.h), queues first. The store may be in
// use meanwhile: a message is written as it is when its turn comes, or left out where it has gone,
// or was cancelled and goes when its delivery ends.
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
#include "core/engine.h"

namespace tarry::app::transfer {

struct ExportOptions {
  std::vector<std::string> queues;  // empty: all that there are
  std::uint32_t page = 500;         // messages that are asked for at once
  std::stop_token stop = {};
  /// Messages written so far, and to be written in all, as far as is known.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  /// To go on with what is written already, its first lines included; null: from the beginning.
  const ExportMark* from = nullptr;
  /// Told how far it has come, after each page and where it is stopped.
  std::function<Result<void>(const ExportMark&)> mark = {};
};

/// `write` takes a line without its newline. Errors: the engine's, `write`'s, `mark`'s; `not_found`
/// for a queue that is not there; `closed` where it was stopped.
[[nodiscard]] Result<ExportReport> export_store(
    core::Engine& engine, const ExportOptions& options,
    const std::function<Result<void>(std::string_view line)>& write);

}  // namespace tarry::app::transfer
