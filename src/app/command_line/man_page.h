// The manual, `man tarry`: one page about all commands, made from their help.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "app/command_line/command_tree.h"

namespace tarry::app {

/// The page in roff, with the macros of man(7). `version`: "tarry 0.2.0".
[[nodiscard]] std::string man_page(const CommandNode& root, std::string_view version);

}  // namespace tarry::app
