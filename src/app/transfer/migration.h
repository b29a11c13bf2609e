// Migration: moves one store's contents into another, queue by queue. Messages keep their keys, due
// times, attempts, tallies, headers and priorities, and dead ones their reasons.
//
// While a queue is moved it is paused in both stores ("held"), so that no message is delivered
// while it has two copies. Messages go in batches: they are read in the first store, put into the
// second under the same key, then deleted from the first if they have not changed since they were
// read. If a run is killed at any point and started again, it finds the same message in both
// stores, and does only the last step. The hold itself contains the queue's former pause
// (queue_hold.h), so nothing else is kept. If the first store cannot pause (a layout's keys belong
// to other programs too), the queue is held only in the second. If another program takes a message
// from the first store meanwhile, the last step does not find it there, and its copy in the second
// store is removed. docs/decisions/0005 says why.
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
  std::string name;  // the URL without secrets, for messages
};

struct MigrationOptions {
  std::vector<std::string> queues;  // empty: all queues
  Millis wait{0};                   // how long to wait for leases to end; then leased messages stay
  bool keep_settings = false;       // for queues that exist in the second store
  bool dry_run = false;             // only counts; changes nothing
  std::uint32_t batch = 500;        // messages, 1 .. 10,000
  std::stop_token stop = {};        // ends the run between two batches
  /// Called with the number of messages moved so far and, as far as is known, in total.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

struct MigratedQueue {
  std::string queue;
  std::uint64_t moved = 0;  // in a dry run: that would be moved
  std::uint64_t dead = 0;   // how many of these are dead
  // How many of these an earlier run, which was cut short, had copied.
  std::uint64_t found = 0;
  std::uint64_t leased = 0;      // leased messages, which stay
  std::uint64_t remembered = 0;  // keys of settled messages, which stay
  std::uint64_t left = 0;        // messages that could not be moved, or arrived meanwhile
  std::uint64_t conflicts = 0;   // how many of these have a key that another message has there
  bool held = false;             // the move is not complete, and the queue is paused in both stores
  // False: the first store cannot pause, so the queue is paused in the second only.
  bool pauses = true;
  std::vector<std::string> problems;  // the first few, one line each
};

struct MigrationReport {
  std::vector<MigratedQueue> queues;
  bool stopped = false;
  std::optional<Error> error;  // why the migration ended; names store and queue

  [[nodiscard]] bool is_complete() const noexcept;
};

/// The error of `migrate` if nothing can be moved out of `from`, whatever the second store is;
/// otherwise nothing.
[[nodiscard]] std::optional<Error> refuse_from(const MigrationEnd& from,
                                               const std::vector<std::string>& queues);

/// Errors besides those of the engines: `not_found` for a missing queue; `conflict` if both ends
/// are the same store, or if another run moves the same queue; `unsupported` if messages cannot be
/// moved out of the first store or into the second.
[[nodiscard]] MigrationReport migrate(const MigrationEnd& from, const MigrationEnd& to,
                                      const MigrationOptions& options);

}  // namespace tarry::app
