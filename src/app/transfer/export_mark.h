// ExportMark: how far an export into a file has come. With it the same command continues there
// after it was stopped or killed, or after its store was unreachable. The mark is kept beside the
// unfinished file, as JSON.
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
  std::uint64_t leased = 0;           // how many of these are leased
  std::uint64_t stopping = 0;         // leased and cancelled messages; they are left out
  std::uint64_t gone = 0;             // listed, but not found when they were to be read
  std::uint64_t remembered = 0;       // keys of settled messages; they are left out
  std::vector<std::string> problems;  // damaged messages, one line each
};

/// A queue's counters before its first page was listed.
struct QueueBooks {
  std::uint64_t present = 0;  // scheduled, ready, leased, dead
  std::uint64_t accepted = 0;
  std::uint64_t ended = 0;
};

struct ExportMark {
  std::vector<std::string> queues;  // in the order in which they are written
  std::size_t queue = 0;            // index of the queue to continue with
  std::string after;                // where to continue in it: a list's `next`; empty: at the start
  std::uint64_t total = 0;          // messages that the store had, as far as was known
  std::optional<QueueBooks> books;  // of the current queue; empty: counters are not compared
  std::uint64_t listed = 0;         // messages of the current queue that lists have shown
  ExportReport report;              // about the lines written so far
};

/// A mark as it is stored, with the export that it belongs to and the file's length at that time.
struct KeptMark {
  std::string of;  // identifies the export: its store and queues, as the command spells them
  std::uint64_t bytes = 0;
  ExportMark mark;
};

/// Replaces the stored mark as a whole or not at all. Errors: the file system's, which name `path`.
[[nodiscard]] Result<void> keep_mark(const std::string& path, const KeptMark& mark);
/// The stored mark; nothing if there is none. Errors: `damaged` for a file that is not a mark; the
/// file system's.
[[nodiscard]] Result<std::optional<KeptMark>> kept_mark(const std::string& path);

}  // namespace tarry::app::transfer
