// Moves messages from one queue to another: dead ones to a dead-letter queue, and those of a
// dead-letter queue back. Each is pushed to the other queue under a name made of its queue and id,
// and then deleted where it was, but only if it has not changed meanwhile. A crash between the two
// leaves it in both; the next move finds the name taken, and only deletes.
//
// Thread safety: the server's thread only.
#pragma once

#include <cstddef>
#include <string>

#include <tarry/message.h>

#include "base/unique_function.h"
#include "server/sqs/protocol/call.h"

namespace tarry::sqs {

struct Moving {
  std::string from;
  State state = State::dead;  // of the messages to move
  std::string to;             // empty: to the queue where each message died
  std::size_t most = 1'000;   // messages
};
/// `moved`: how many; `all`: whether none is left.
using Moved = base::UniqueFunction<Step(std::size_t moved, bool all)>;

[[nodiscard]] Step move_messages(const CallPtr& call, Moving moving, Moved next);

}  // namespace tarry::sqs
