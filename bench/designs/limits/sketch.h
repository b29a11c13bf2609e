// A limit, not a rival: the least that a delay queue with leases on this machine does. Messages are
// in a slab in RAM, payloads included; a wheel (slot_wheel.h) holds due times and the ends of
// leases; each verb appends its records to a log (log_file.h). It has no keys and no index, fences
// nothing, and recovers nothing: nobody reads the log.
//
// Thread safety: all of it.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

/// Payloads have at most 124 bytes.
[[nodiscard]] std::unique_ptr<Design> make_sketch(const std::string& path, Sync sync);

}  // namespace tarry::bench
