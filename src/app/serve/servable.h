// Whether `tarry serve` can use a configuration in which each single value is valid.
#pragma once

#include <string>
#include <vector>

#include <tarry/result.h>

#include "app/config/config.h"

namespace tarry::app {

/// Errors: `invalid_argument`, which names what the server lacks or cannot have.
[[nodiscard]] Result<void> check_servable(const config::Config& config);

/// Lines about valid settings that are perhaps not what the user meant. One line each.
[[nodiscard]] std::vector<std::string> notes_of(const config::Config& config);

}  // namespace tarry::app
