// Import: puts the lines of an export into a store. Messages keep their keys, attempts and tallies.
//
// A queue is held (queue_hold.h) from its first line on until the export's last line has been read.
// So if an import is cut short at any line, none of its messages has been delivered yet, and the
// same file can be imported again. Messages that the first run imported and that have not changed
// are then only counted.
//
// Invariants
//  1. Everything before the line that ended the import is in the store.
//  2. A message that is in the store is never overwritten.
//
// Thread safety: one thread at a time; blocks it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "app/transfer/line.h"
#include "app/transfer/queue_hold.h"
#include "core/engine.h"

namespace tarry::app::transfer {

struct ImportReport {
  std::uint64_t lines = 0;
  std::uint64_t imported = 0;
  std::uint64_t found = 0;            // equal to messages that were there already
  std::uint64_t settled = 0;          // the store remembers them as settled
  std::uint64_t ended = 0;            // imported by an earlier run, and have ended since
  std::uint64_t conflicts = 0;        // their keys belong to other messages there
  std::uint64_t failed = 0;           // the store did not accept them
  bool complete = false;              // the export's end was read, and queues are no longer held
  std::vector<std::string> problems;  // the first few, one line each
  std::vector<std::string> held;      // queues that stay paused
};

class Importer {
 public:
  /// `keep_settings`: existing queues keep their settings. `before`: how many empty lines the file
  /// begins with.
  Importer(core::Engine& engine, bool keep_settings, std::uint64_t before = 0);

  /// Checks whether a file that begins with `text` can be an export. Error: `invalid_argument`.
  [[nodiscard]] static Result<void> check_begin(std::string_view text);

  /// Imports the next line of the file; empty lines are ignored. An error names the line and ends
  /// the import: `invalid_argument` for a line that is not from an export, otherwise the store's
  /// error.
  [[nodiscard]] Result<void> take(std::string_view text);

  /// Call `finish` when the file has no more lines, or when the rest must not be read.
  [[nodiscard]] Result<void> finish();

  /// Whether the export's end line was read.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Call `report` after `finish`, or after an error.
  [[nodiscard]] ImportReport report() const;

 private:
  struct Queue {
    PauseState before;  // its pause in this store
    PauseState there;   // its pause in the export
    std::uint32_t max_attempts = 0;
  };

  Result<void> begin_queue(const QueueLine& line);
  Result<void> put(MessageInfo message);
  void end_claim(MessageInfo& message) const;
  Result<void> flush();
  Result<void> look(std::vector<MessageInfo> taken);
  Result<void> let_go();
  void problem(const MessageInfo& message, const std::string& what);
  [[nodiscard]] Error at_line(Error error) const;

  core::Engine& engine_;
  const bool keep_settings_;
  ImportReport report_;
  std::map<std::string, Queue> queues_;  // the queues that are held
  std::vector<std::string> order_;       // queues in the order of their lines in the file
  bool is_whole_ = false;                // an earlier import was cut short while it ended the holds
  std::set<std::string> released_;       // the queues whose holds that import had ended
  std::vector<MessageInfo> batch_;       // messages of one queue
  std::size_t batch_bytes_ = 0;
  bool begun_ = false;
  bool ended_ = false;
  std::uint64_t read_ = 0;  // number of messages read
  std::uint64_t told_ = 0;  // number of messages in the export, by its end line
};

}  // namespace tarry::app::transfer
