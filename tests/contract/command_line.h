// The command line as an engine: each request is said by running the program `tarry -o json`, once
// an item where a command takes one, and its JSON is the reply. Each run's exit code is held
// against what it printed; one that differs fails the test.
//
// What no command can say (a claim by key, a move, a key with a zero byte) answers `unsupported`.
#pragma once

#include <string>

#include <tarry/store.h>

namespace tarry::contract {

/// A store on the server at that address.
[[nodiscard]] Store command_line_store(const std::string& url, Executor executor);

/// Why the test of that name ("Suite.Test") says nothing of the command line; empty: it does.
[[nodiscard]] std::string not_for_command_line(const std::string& suite, const std::string& test);

}  // namespace tarry::contract
