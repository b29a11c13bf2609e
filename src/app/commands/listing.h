// Messages of a queue as `tarry ls` prints them.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tarry/message.h>
#include <tarry/queue.h>

#include "app/command_line/session.h"
#include "core/message_filter.h"

namespace tarry::app {

struct Listing {
  std::optional<State> state = {};
  core::MessageFilter filter = {};
  std::uint64_t limit = 100;
  std::string after = {};  ///< where the previous listing ended; empty: from the start
};

/// `scheduled`, or `leased, stopping`.
[[nodiscard]] std::string state_text(const MessageInfo& info);

/// Error: `not_found` if there is no such queue. The list or forecast of a missing queue looks like
/// that of an empty one, so without this check a mistyped name would go unnoticed.
[[nodiscard]] Result<void> check_known(const Queue& queue);

/// Opens the store and prints the listing, in no particular order.
[[nodiscard]] ExitCode print_messages(Session& session, const std::string& queue,
                                      const Listing& listing);

}  // namespace tarry::app
