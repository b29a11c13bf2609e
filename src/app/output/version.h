// The program's version, as it says it of itself.
//
// Pure.
#pragma once

namespace tarry::app {

/// `tarry 0.1.0`
[[nodiscard]] const char* version_line() noexcept;

}  // namespace tarry::app
