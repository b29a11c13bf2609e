// `command` as a kind of sink.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

/// Errors of its `make`: also as ChildProcesses::check.
[[nodiscard]] SinkKind command_kind();

}  // namespace tarry::relay
