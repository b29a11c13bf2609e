// One measure in a process of its own, so that a design that fails, hangs or takes memory spoils
// none of the others.
//
// Thread safety: none. Only while the program has no other threads: it forks.
#pragma once

#include <functional>
#include <string>

#include "comparison/measures.h"

namespace tarry::bench {

/// Adds what `body` found to `results`. The answer is empty where it ended well, else why not: the
/// last line that it wrote to its standard error. After `longest_s` seconds it is ended.
[[nodiscard]] std::string run_apart(const std::function<void(Results&)>& body, Results& results,
                                    unsigned longest_s);

}  // namespace tarry::bench
