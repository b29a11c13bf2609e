// The flags of `tarry serve`, made from the table of settings. `tarry config check` takes the same
// flags.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "app/command_line/invocation.h"
#include "app/config/config.h"

namespace tarry::app {

struct ServeFlags {
  std::optional<std::string> config;  // --config
  // All other flags; --store is not one of them, because every command has it.
  config::Flags values;
};

void add_serve_flags(CLI::App& command, ServeFlags& into);

/// These flags, and --store.
[[nodiscard]] config::Flags all_flags(const Invocation& invocation, const ServeFlags& flags);

/// The configuration with these flags, --store included. On failure it prints every reason and
/// returns nothing.
[[nodiscard]] std::optional<config::Config> load_config(Invocation& invocation,
                                                        const ServeFlags& flags, ExitCode& code);

}  // namespace tarry::app
