// The token for a server that a URL names: the first line of its token_file; otherwise TARRY_TOKEN;
// otherwise the first line of the file that TARRY_TOKEN_FILE names. An empty variable counts as
// none.
//
// Reads the file and the environment; thread safe while nobody sets the variables.
#pragma once

#include <functional>
#include <string>

#include <tarry/result.h>

#include "open/urls/store_url.h"

namespace tarry::detail {

/// The token; empty if there is none. Error: `invalid_argument` for a file that cannot be read, and
/// for an ill-formed token. The error never shows the token.
[[nodiscard]] Result<std::string> token_for(const RemoteUrl& url);

/// If that token is in a file: a function that reads the file again. It returns an empty text if
/// the file has no token then. Otherwise nothing.
[[nodiscard]] std::function<std::string()> token_renewal(const RemoteUrl& url);

}  // namespace tarry::detail
