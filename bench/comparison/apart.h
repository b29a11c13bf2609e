// Runs one measure in a process of its own, so that a design that fails, hangs or takes memory does
// not disturb the others.
//
// Thread safety: none. It forks, so the program must have no other threads.
#pragma once

#include <functional>
#include <string>

#include "comparison/measures.h"

namespace tarry::bench {

/// Adds the results of `body` to `results`. The answer is empty if it ended well, otherwise it is
/// the last line that it wrote to its standard error. After `longest_s` seconds the process is
/// ended.
[[nodiscard]] std::string run_apart(const std::function<void(Results&)>& body, Results& results,
                                    unsigned longest_s);

}  // namespace tarry::bench
