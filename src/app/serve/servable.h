// Whether `tarry serve` can use a configuration in which each single value is valid.
#pragma once

#include <string>
#include <vector>

#include <tarry/result.h>

#include "app/config/config.h"

namespace tarry::app {

/// Error: `invalid_argument`, which names the setting that is missing or that cannot be used.
[[nodiscard]] Result<void> check_servable(const config::Config& config);

/// The addresses beyond this machine that the server would serve without TLS or without a token,
/// and what they lack: "0.0.0.0:7733 without TLS (tls.cert)". Empty if there are none.
[[nodiscard]] std::string open_addresses(const config::Config& config);

/// One line for each valid setting that is perhaps not what the user meant.
[[nodiscard]] std::vector<std::string> notes_of(const config::Config& config);

}  // namespace tarry::app
