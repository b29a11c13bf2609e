// Marks: names of branches that were taken, told to whoever asks. The simulator asks, and fails
// where one of them was never reached. Rows of the recovery table go by their names there; branches
// of cleaning by `cleaning.…`.
//
// Thread safety: called on the thread that takes the branch.
#pragma once

#include <functional>
#include <string_view>

namespace tarry::embedded {

/// Empty: nobody asks.
using Mark = std::function<void(std::string_view branch)>;

}  // namespace tarry::embedded
