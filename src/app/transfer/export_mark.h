// ExportMark: how far an export into a file had come, so that the same command continues there
// after it was stopped or killed, or its store was unreachable. Kept beside the unfinished file, as
// JSON.
//
// Thread safety: plain values; the functions block on the file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

namespace tarry::app::transfer {

struct ExportReport {
  std::uint64_t queues = 0;
  std::uint64_t messages = 0;
  std::uint64_t leased = 0;           // of these: leased
  std::uint64_t stopping = 0;         // leased and cancelled messages, which are left out
  std::uint64_t gone = 0;             // listed, and not found when their turn came
  std::uint64_t remembered = 0;       // keys of settled messages, which are left out
  std::vector<std::string> problems;  // messages that are damaged, a line each
};

/// A queue's counters before its first page was listed.
struct QueueBooks {
  std::uint64_t present = 0;  // scheduled, ready, leased, dead
  std::uint64_t accepted = 0;
  std::uint64_t ended = 0;
};

struct ExportMark {
  std::vector<std::string> queues;  // in the order in which they are written
  std::size_t queue = 0;            // of these: the one to go on with
  std::string after;                // a list's `next` in it; empty: from its beginning
  std::uint64_t total = 0;          // messages there were, as far as was known
  std::optional<QueueBooks> books;  // of the current queue; nothing: they are not compared
  std::uint64_t listed = 0;         // messages of the current queue that lists have shown
  ExportReport report;              // of the written lines
};

/// A mark as it is stored: of which export, and how long the file was.
struct KeptMark {
  std::string of;  // the store and the queues asked for, as the command spells them
  std::uint64_t bytes = 0;
  ExportMark mark;
};

/// Whole, or as it was before. Errors: the file system's, naming `path`.
[[nodiscard]] Result<void> keep_mark(const std::string& path, const KeptMark& mark);
/// Nothing if there is none. Errors: `damaged` for a file that is no mark; the file system's.
[[nodiscard]] Result<std::optional<KeptMark>> kept_mark(const std::string& path);

}  // namespace tarry::app::transfer
