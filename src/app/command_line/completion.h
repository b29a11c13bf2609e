// Scripts that let a shell complete commands, flags and their choices.
//
// Pure functions.
#pragma once

#include <string>

#include "app/command_line/command_tree.h"

namespace tarry::app {

[[nodiscard]] std::string bash_completion(const CommandNode& root);
[[nodiscard]] std::string zsh_completion(const CommandNode& root);
[[nodiscard]] std::string fish_completion(const CommandNode& root);

}  // namespace tarry::app
