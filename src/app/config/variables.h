// The variables that the program reads, and slips of the finger among those that it does not.
//
// Thread safety: reads the environment, which nobody may change meanwhile.
#pragma once

#include <string>
#include <vector>

namespace tarry::app::config {

/// A line for each variable that is set, that nothing here reads, and whose name after TARRY_ is
/// nearly one that something does: `TARRY_LISTN is set, but nothing reads it; did you mean
/// TARRY_LISTEN?`. By name. Others may be the user's own, as secrets of webhooks are.
[[nodiscard]] std::vector<std::string> mistyped_variables();

}  // namespace tarry::app::config
