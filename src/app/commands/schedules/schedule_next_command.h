// tarry schedule next: a part of `tarry schedule`.
#pragma once

#include <CLI/CLI.hpp>

#include "app/command_line/invocation.h"

namespace tarry::app {

void add_schedule_next_command(CLI::App& group, Invocation& invocation);

}  // namespace tarry::app
