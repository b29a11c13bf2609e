// Dead-letter queues. tarry keeps dead messages in their own queue; a dead-letter queue of SQS is a
// queue that gets them. Its record names the queues whose RedrivePolicy points to it.
//
// Thread safety: the server's thread only.
#pragma once

#include <string>

#include "base/unique_function.h"
#include "server/sqs/call.h"

namespace tarry::sqs {

using Next = base::UniqueFunction<Step()>;

/// Goes on if the dead-letter queue exists, or if `target` is empty.
[[nodiscard]] Step check_target(const CallPtr& call, std::string target, Next next);

/// Notes in the record of `target` that dead messages of `source` go there; then goes on. Nothing
/// is noted if `target` is empty.
[[nodiscard]] Step note_source(const CallPtr& call, std::string target, std::string source,
                               Next next);

}  // namespace tarry::sqs
