// The tokens of `tarry serve`: that of server.token_file, which may do everything, and those of
// server.tokens_file.
//
// Thread safety: one thread at a time; they read files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/config/config.h"
#include "app/output/output.h"
#include "app/serve/log.h"
#include "server/identity/keys_file.h"
#include "server/identity/tokens.h"

namespace tarry::app {

struct ServeTokens {
  std::string token;      // of token_file; empty: no file is named
  bool has_list = false;  // tokens_file is named
  std::vector<identity::Identity> listed;
  std::vector<identity::KeptSecret> secrets;  // of sqs.keys_file
  std::vector<std::string> ended;             // a line for each listed token that has ended
};

/// The tokens of the files that the settings name. On failure it adds every reason to `problems`,
/// one line each, and returns nothing.
[[nodiscard]] std::optional<ServeTokens> read_tokens(const config::Config& config,
                                                     std::vector<std::string>& problems);

/// The same for a start, which also refuses tokens that have ended. It prints the reasons.
[[nodiscard]] std::optional<ServeTokens> start_tokens(const config::Config& config, Output& output);

[[nodiscard]] identity::Tokens tokens_of(const ServeTokens& tokens);

/// Logs a warning if other users of the machine can read the file of token_file.
void note_open_token(const config::Config& config, ServeLog& log);

/// Logs what a reload has changed.
void log_changed_tokens(const ServeTokens& before, const ServeTokens& after, ServeLog& log);

}  // namespace tarry::app
