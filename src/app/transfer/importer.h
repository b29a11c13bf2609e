// Import: puts the lines of an export into a store, messages with their keys, attempts and tallies.
//
// A queue is held (queue_hold.h) from its first line on until the export's last line has been read.
// So if an import is cut short at any line, no message of it has been delivered yet, and the same
// file can be imported again: messages that are there already and unchanged are only counted.
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
  std::uint64_t found = 0;            // were there already, the same
  std::uint64_t settled = 0;          // the store remembers them as settled
  std::uint64_t ended = 0;            // an import before this one put them in, and they ended since
  std::uint64_t conflicts = 0;        // their keys belong to other messages there
  std::uint64_t failed = 0;           // the store takes no such message
  bool complete = false;              // the export's end was read, and queues are no longer held
  std::vector<std::string> problems;  // the first few, a line each
  std::vector<std::string> held;      // queues that stay paused
};

class Importer {
 public:
  /// `keep_settings`: of existing queues. `before`: how many empty lines came first.
  Importer(core::Engine& engine, bool keep_settings, std::uint64_t before = 0);

  /// Whether a file that begins so may be an export at all. Errors: `invalid_argument`.
  [[nodiscard]] static Result<void> check_begin(std::string_view text);

  /// The next line of the file; empty ones are left out. An error ends the import and names the
  /// line: `invalid_argument` for a line that is not from an export; otherwise the store's.
  [[nodiscard]] Result<void> take(std::string_view text);

  /// The file has no more lines, or the rest is not to be read.
  [[nodiscard]] Result<void> finish();

  /// The file's end was read.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// After `finish`, or after an error.
  [[nodiscard]] ImportReport report() const;

 private:
  struct Queue {
    PauseState before;  // here
    PauseState there;   // in the export
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
  std::map<std::string, Queue> queues_;  // the held ones
  std::vector<std::string> order_;       // of their lines in the file
  bool is_whole_ = false;                // an import before this one was cut short at its end
  std::set<std::string> released_;       // then: the queues that it has released
  std::vector<MessageInfo> batch_;       // of one queue
  std::size_t batch_bytes_ = 0;
  bool begun_ = false;
  bool ended_ = false;
  std::uint64_t read_ = 0;  // messages
  std::uint64_t told_ = 0;  // messages that the export has, by its end
};

}  // namespace tarry::app::transfer
