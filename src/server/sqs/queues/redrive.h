// Dead-letter queues. tarry keeps dead messages in their own queue; a dead-letter queue of SQS is a
// queue that gets them. Its record names the queues whose RedrivePolicy points to it.
//
// Thread safety: the server's thread only.
#pragma once

#include <string>
#include <vector>

#include "base/unique_function.h"
#include "server/sqs/protocol/call.h"
#include "server/sqs/queues/queue_info.h"

namespace tarry::sqs {

using Next = base::UniqueFunction<Step()>;

/// Goes on if the dead-letter queue exists and is of the source's type, or if `target` is empty.
[[nodiscard]] Step check_target(const CallPtr& call, std::string target, bool fifo, Next next);

/// Notes in the record of `target` that dead messages of `source` go there; then goes on. Nothing
/// is noted if `target` is empty.
[[nodiscard]] Step note_source(const CallPtr& call, std::string target, std::string source,
                               Next next);

/// Goes on with the names of the queues whose RedrivePolicy points to this one.
[[nodiscard]] Step with_sources(const CallPtr& call, const QueueInfoPtr& queue,
                                base::UniqueFunction<Step(std::vector<std::string>)> next);

/// Brings the dead messages of the queue's sources into it, and then goes on. Does nothing for a
/// queue that is not a dead-letter queue.
[[nodiscard]] Step bring_dead(const CallPtr& call, const QueueInfoPtr& queue, Next next);

}  // namespace tarry::sqs
