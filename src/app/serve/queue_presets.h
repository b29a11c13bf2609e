// Applies the file's settings of queues to the existing queues.
//
// Thread safety: blocks the calling thread, which must not be an engine's.
#pragma once

#include <string>
#include <vector>

#include <tarry/result.h>

#include "core/engine.h"
#include "server/presets/queue_rules.h"

namespace tarry::app {

struct PresetChanges {
  std::vector<std::string> changed;  // queues whose settings changed
  std::vector<Error> failed;         // one for each queue that could not be changed; names the
                                     // queue
};

/// Error: the store's, if it cannot list its queues at all.
[[nodiscard]] Result<PresetChanges> apply_rules(core::Engine& engine,
                                                const presets::QueueRules& rules);

}  // namespace tarry::app
