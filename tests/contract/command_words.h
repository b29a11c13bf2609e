// Requests as the words of commands, and their JSON as replies.
//
// Thread safety: pure functions, except `run`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reply.h"
#include "core/request.h"
#include "program_run.h"

namespace tarry::contract {

/// Runs one command: the arguments after `tarry --store URL -o json`, and its standard input.
using RunCommand =
    std::function<Ran(const std::vector<std::string>& words, std::string_view input)>;

[[nodiscard]] Result<core::Reply> say_on_command_line(const core::Request& request,
                                                      const RunCommand& run);

}  // namespace tarry::contract
