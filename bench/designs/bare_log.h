// A limit, not a rival: a log that only appends and syncs. It keeps no index, recovers nothing and
// gives no answers: a claim simply takes the messages that were pushed first. Its records are as
// long as tarry's own, and checked by CRC32C as those are.
//
// Thread safety: one caller at a time.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Design> make_bare_log(const std::string& path, Sync sync);

}  // namespace tarry::bench
