// Redisson's RDelayedQueue (SOURCES.md, S11): its keys, entries and scripts, without its client. An
// offer runs one script per message. A transfer, which its timer runs, moves up to 100 due messages
// to the list from which consumers pop, and for each of them walks the list of all pending
// messages. A popped message is gone, so there is nothing to settle.
#pragma once

#include <memory>
#include <string>

#include "designs/piped.h"

namespace tarry::bench {

/// A claim is a transfer, and one pop of as many values as the transfer may have moved. Real
/// consumers pop one value at a time, and would take longer.
[[nodiscard]] std::unique_ptr<Piped> make_redisson_queue(const std::string& socket_path);

}  // namespace tarry::bench
