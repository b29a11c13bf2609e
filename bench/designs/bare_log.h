// The limit rather than a rival: a log that is appended to and synced, and nothing else. It keeps
// no index, recovers nothing, gives no answer: what is claimed is simply what was pushed first. Its
// records are as long as tarry's own, and checked by CRC32C as those are.
//
// Thread safety: one caller at a time.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Design> make_bare_log(const std::string& path, Sync sync);

}  // namespace tarry::bench
