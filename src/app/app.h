// The program: reads its arguments, runs the command that they name, and returns the exit code.
#pragma once

#include <string>
#include <vector>

#include "app/output/exit_codes.h"

namespace tarry::app {

/// `arguments`: without the program's name.
[[nodiscard]] ExitCode run(std::vector<std::string> arguments);

}  // namespace tarry::app
