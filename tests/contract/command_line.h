// The command line as an engine: each request runs the program `tarry -o json` (once per item if
// the command takes only one), and its JSON becomes the reply. Each run's exit code must fit its
// output; otherwise the test fails.
//
// Requests that no command can express (a claim by key, a move, a key with a zero byte) answer
// `unsupported`.
#pragma once

#include <string>

#include <tarry/store.h>

namespace tarry::contract {

/// A store on the server at that address.
[[nodiscard]] Store command_line_store(const std::string& url, Executor executor);

/// Why the test of that name ("Suite.Test") cannot run on the command line; empty if it can.
[[nodiscard]] std::string not_for_command_line(const std::string& suite, const std::string& test);

}  // namespace tarry::contract
