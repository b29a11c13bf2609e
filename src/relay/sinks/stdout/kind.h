// `stdout` as a kind of sink.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

/// `takes_writes` says of a descriptor whether it is open for writing. Errors of its `make`:
/// `invalid_argument` where standard output is not.
[[nodiscard]] SinkKind stdout_kind(std::function<bool(int descriptor)> takes_writes);

}  // namespace tarry::relay
