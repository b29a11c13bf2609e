// Migration: moves one store's contents into another, queue by queue, keys, due times, attempts,
// tallies, headers, priorities and the dead with their reasons included.
//
// While a queue is moved it is paused in both stores ("held"), so that no copy of a message is
// delivered while there are two. Messages go in batches: read in the first store, put into the
// second under the same key, then taken away from the first if they are still as they were read. If
// a run is killed anywhere and run again, it finds the same message in both, and does only the last
// step. The hold itself contains the queue's former pause (queue_hold.h), so nothing else is kept.
// If the first store cannot pause (a layout's keys belong to other programs too), only the second
// one's queue is held. A message that another program took meanwhile is missing when it is to be
// taken away, and its copy is removed. docs/decisions/0005 says why.
//
// Thread safety: `migrate` blocks the thread that calls it; `progress` runs on that thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "core/engine.h"

namespace tarry::app {

struct MigrationEnd {
  core::Engine& engine;
  std::string name;  // for messages: the URL, without secrets
};

struct MigrationOptions {
  std::vector<std::string> queues;  // empty: all queues
  Millis wait{0};                   // how long to wait for claims to end; then they are left
  bool keep_settings = false;       // of queues that the second store has
  bool dry_run = false;             // counts, and changes nothing
  std::uint32_t batch = 500;        // messages, 1 .. 10,000
  std::stop_token stop = {};        // stops between two batches
  /// Messages moved so far, and to be moved in all, as far as is known.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

struct MigratedQueue {
  std::string queue;
  std::uint64_t moved = 0;       // in a dry run: that would be
  std::uint64_t dead = 0;        // of these
  std::uint64_t found = 0;       // of these: were there already, from a run that was cut short
  std::uint64_t leased = 0;      // leased: they stay
  std::uint64_t remembered = 0;  // keys of settled messages: they stay
  std::uint64_t left = 0;        // could not be moved, or arrived meanwhile
  std::uint64_t conflicts = 0;   // of these: the key belongs to another message there
  bool held = false;             // it was not come to its end, and is paused in both stores
  bool pauses =
      true;  // false: the first store cannot pause; the queue is paused in the second alone
  std::vector<std::string> problems;  // the first few, a line each
};

struct MigrationReport {
  std::vector<MigratedQueue> queues;
  bool stopped = false;
  std::optional<Error> error;  // why it ended; names store and queue

  [[nodiscard]] bool is_complete() const noexcept;
};

/// Why nothing can be moved from there, whatever TO is: one of `migrate`'s errors.
[[nodiscard]] std::optional<Error> refuse_from(const MigrationEnd& from,
                                               const std::vector<std::string>& queues);

/// Errors besides the engines' own: `not_found` for a missing queue; `conflict` if both are one
/// store, or if another run moves the same queue; `unsupported` for stores that cannot be moved
/// from or to.
[[nodiscard]] MigrationReport migrate(const MigrationEnd& from, const MigrationEnd& to,
                                      const MigrationOptions& options);

}  // namespace tarry::app
