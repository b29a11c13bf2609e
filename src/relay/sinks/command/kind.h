// `command` as a kind of sink.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

/// The `make` of this kind also has the errors of ChildProcesses::check.
[[nodiscard]] SinkKind command_kind();

}  // namespace tarry::relay
