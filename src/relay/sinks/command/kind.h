// `command` as a kind of sink.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

/// Its `make` also has the errors of ChildProcesses::check.
[[nodiscard]] SinkKind command_kind();

}  // namespace tarry::relay
