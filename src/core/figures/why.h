// The rules by which `why` names one cause, from what the store tells of a message and its queue.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include <tarry/why.h>

namespace tarry::core {

/// A relay that serves the message's queue, and that hands nothing over now.
struct IdleRelay {
  std::string name;
  bool ended = false;  // by an error; false: its breaker is open
};

/// One cause, though several may hold: the first that has to end before the message is delivered.
[[nodiscard]] Why why(MessageInfo message, QueueStats queue,
                      const std::vector<IdleRelay>& relays = {});

/// The text of `not_found` for a message that the queue does not know.
[[nodiscard]] std::string why_unknown(std::string_view key, const QueueStats& queue);

}  // namespace tarry::core
