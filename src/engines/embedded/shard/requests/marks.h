// Marks: names of branches that a shard has taken (`cleaning.finished`). The simulator
// collects them, and fails if none of its worlds has taken a branch. Recovery marks rows of its
// table instead (recovery_rows.h).
//
// Thread safety: called on the thread that takes the branch.
#pragma once

#include <functional>
#include <string_view>

namespace tarry::embedded {

/// Empty: no listener.
using Mark = std::function<void(std::string_view branch)>;

}  // namespace tarry::embedded
