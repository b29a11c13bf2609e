// Reload: a server's reaction to SIGHUP. All files are read again. A setting that can change
// without a restart does; for any other the log names it, and the old value stays. If a file is
// wrong, nothing changes at all.
//
// Thread safety: one thread at a time, none of an engine's; blocks it.
#pragma once

#include <string>

#include "app/config/config.h"
#include "app/serve/log.h"
#include "core/engine.h"
#include "server/presets/preset_engine.h"
#include "server/session/fronts.h"

namespace tarry::app {

/// The parts that can be changed.
struct Serving {
  core::Engine& store;
  presets::PresetEngine& presets;
  session::Fronts& server;
  ServeLog& log;
  std::string& token;  // that is asked for now
};

/// The required token, from the file's first line; empty if no file is named. Errors:
/// `invalid_argument`.
[[nodiscard]] Result<std::string> read_token(const std::string& path);

/// A warning where other users of the machine can read the token.
void note_open_token(const std::string& path, ServeLog& log);

/// The limits that hold by `config`, within the descriptors that the process may have.
[[nodiscard]] session::Limits limits_of(const config::Config& config);

/// If the descriptors are too few for the configured number of connections (or for 1,000 if none is
/// configured): one line that says how many there may be, and why.
void note_fewer_connections(const config::Config& config, const session::Limits& limits,
                            ServeLog& log);

/// Existing queues get the file's settings now; later ones get them when they are made.
[[nodiscard]] Result<void> apply_queue_rules(core::Engine& store, const presets::QueueRules& rules,
                                             ServeLog& log);

/// Updates `held` to the new settings in force.
void reload(config::Config& held, const config::Flags& flags, const Serving& serving);

}  // namespace tarry::app
