// Reload: a server's reaction to SIGHUP. All files are read again. If a changed setting does not
// need a restart, its new value takes effect. If it needs one, the old value stays, and the log
// names the setting. If a file is wrong, nothing changes at all.
//
// Thread safety: one thread at a time, which must not be an engine's; it is blocked.
#pragma once

#include <tarry/store.h>

#include "app/config/config.h"
#include "app/serve/log.h"
#include "app/serve/serve_tokens.h"
#include "core/engine.h"
#include "server/audit/trail.h"
#include "server/listening/tls_context.h"
#include "server/presets/preset_engine.h"
#include "server/session/fronts.h"

namespace tarry::app {

/// The parts of a running server that a reload can change.
struct Serving {
  const Store& store;
  presets::PresetEngine& presets;
  session::Fronts& server;
  ServeLog& log;
  ServeTokens& tokens;  // the tokens that are valid now
  listening::Tls& tls;  // TLS of new connections
};

/// Opens the audit log; null if the setting names none. Error: `invalid_argument`.
[[nodiscard]] Result<audit::FilePtr> open_audit_log(const config::Config& config);

/// Logs a warning if other users of the machine can read the audit log.
void note_open_audit_log(const config::Config& config, ServeLog& log);

/// The server's TLS; without `tls.cert` its context is null. Error: `invalid_argument`.
[[nodiscard]] Result<listening::Tls> read_tls(const config::Config& config);

/// Logs whose certificate the server has and until when, and a warning if other users of the
/// machine can read its key.
void note_tls(const config::Config& config, const listening::Tls& tls, ServeLog& log);

/// Logs a warning if `server.insecure` is set.
void note_insecure(const config::Config& config, ServeLog& log);

/// The limits of the configuration, reduced to the number of descriptors that the process may have.
[[nodiscard]] session::Limits limits_of(const config::Config& config);

/// Logs one line if the descriptors do not suffice for the configured number of connections (or for
/// 1,000 if none is configured). It says how many connections there may be, and why.
void note_fewer_connections(const config::Config& config, const session::Limits& limits,
                            ServeLog& log);

/// Existing queues get the file's settings now. Later queues get them when they are made.
[[nodiscard]] Result<void> apply_queue_rules(core::Engine& store, const presets::QueueRules& rules,
                                             ServeLog& log);

/// Does one reload. `held` gets the new settings in force.
void reload(config::Config& held, const config::Flags& flags, const Serving& serving);

}  // namespace tarry::app
