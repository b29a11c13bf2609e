// The program's version, as it prints it.
//
// Pure.
#pragma once

namespace tarry::app {

/// `tarry 0.2.0`
[[nodiscard]] const char* version_line() noexcept;

}  // namespace tarry::app
