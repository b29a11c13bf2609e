// Verbs on every message of a queue that a filter matches, page by page: cancel, reschedule, dead
// revive, dead rm.
//
// Thread safety: one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tarry/time.h>

#include "app/command_line/invocation.h"
#include "core/rules/message_filter.h"

namespace tarry::app {

struct CancelAll {};
/// Moves all messages to one due time. A relative time counts from the moment when the first
/// message is moved.
struct MoveAllTo {
  Due due;
};
/// Moves each message from its own due time by this much, later or earlier.
struct MoveAllBy {
  Millis by;
};
struct ReviveAll {};

struct BulkVerb {
  std::string queue;
  core::MessageFilter filter;
  std::vector<State> states;  // the states to search; not `remembered`
  std::variant<CancelAll, MoveAllTo, MoveAllBy, ReviveAll> action;
  bool dry_run = false;  // only count
  bool yes = false;      // do it even if every message of the queue matches
};

/// The states scheduled, ready and leased. Dead messages have verbs of their own.
[[nodiscard]] const std::vector<State>& alive_states();

/// Runs the verb. SIGTERM and Ctrl-C end it after the current page; then it reports the work done
/// so far.
[[nodiscard]] ExitCode run_on_all(Invocation& invocation, const BulkVerb& verb);

}  // namespace tarry::app
