// `stdout` as a kind of sink.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

/// `takes_writes`: whether a descriptor is open for writing. Error of the kind's `make`:
/// `invalid_argument` if standard output is not open for writing.
[[nodiscard]] SinkKind stdout_kind(std::function<bool(int descriptor)> takes_writes);

}  // namespace tarry::relay
