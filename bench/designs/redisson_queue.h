// Redisson's RDelayedQueue (SOURCES.md, S11): its keys, entries and scripts, without its client. An
// offer is one script a message. A transfer, which its timer runs, moves up to 100 due messages to
// the list that consumers pop from, and walks the list of all that is pending for each. What is
// popped is gone: there is nothing to settle.
#pragma once

#include <memory>
#include <string>

#include "designs/piped.h"

namespace tarry::bench {

/// A claim is a transfer, and one pop of as many values as it may have moved: consumers, who pop
/// one at a time, would take longer.
[[nodiscard]] std::unique_ptr<Piped> make_redisson_queue(const std::string& socket_path);

}  // namespace tarry::bench
