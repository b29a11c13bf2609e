// The variables that the program reads, and likely typing errors among the others.
//
// Thread safety: reads the environment, which no thread may change meanwhile.
#pragma once

#include <string>
#include <vector>

namespace tarry::app::config {

/// A line for each set variable that nothing here reads, and whose name after TARRY_ is nearly one
/// that is read: `TARRY_LISTN is set, but nothing reads it; did you mean TARRY_LISTEN?`. By name.
/// Other variables may be the user's own, such as secrets of webhooks.
[[nodiscard]] std::vector<std::string> mistyped_variables();

}  // namespace tarry::app::config
