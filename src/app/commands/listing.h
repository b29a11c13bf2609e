// Messages of a queue as `tarry ls` prints them.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tarry/message.h>
#include <tarry/queue.h>

#include "app/command_line/filter_flags.h"
#include "app/command_line/invocation.h"

namespace tarry::app {

struct ListingWords {
  std::string queue;
  FilterFlags filter;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> after;  ///< where the previous listing ended; none: from the start
};

/// Adds QUEUE, the flags that choose messages (--state only if `with_state`), --limit and --after.
void add_listing_words(CLI::App& command, ListingWords& into, bool with_state);

/// The state as text: `scheduled`, or `leased, stopping`.
[[nodiscard]] std::string state_text(const MessageInfo& info);

/// Error: `not_found` if there is no such queue. The list or forecast of a missing queue looks like
/// that of an empty one, so without this check a mistyped name would go unnoticed.
[[nodiscard]] Result<void> check_known(const Queue& queue);

/// Opens the store and prints the messages in `state` (nothing: in any state), in no particular
/// order.
[[nodiscard]] ExitCode print_messages(Invocation& invocation, const ListingWords& words,
                                      std::optional<State> state);

}  // namespace tarry::app
