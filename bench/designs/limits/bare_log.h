// A limit, not a rival: a log that only appends and syncs (log_file.h). It keeps no index, recovers
// nothing and gives no answers: a claim simply takes the messages that were pushed first. Callers
// share syncs, as tarry's do.
//
// Thread safety: all of it.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Design> make_bare_log(const std::string& path, Sync sync);

}  // namespace tarry::bench
