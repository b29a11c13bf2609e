// The environment variables that the program reads, and likely typing errors in the names of
// others.
//
// Thread safety: reads the environment, which no thread may change meanwhile.
#pragma once

#include <string>
#include <vector>

namespace tarry::app::config {

/// One line for each variable that is set, that the program does not read, but whose name is close
/// to the name of a variable that it reads: `TARRY_LISTN is set, but nothing reads it; did you mean
/// TARRY_LISTEN?`. Sorted by name. All other variables are ignored: they may be the user's own,
/// such as secrets of webhooks.
[[nodiscard]] std::vector<std::string> mistyped_variables();

}  // namespace tarry::app::config
