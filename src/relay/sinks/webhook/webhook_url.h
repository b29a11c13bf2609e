// A webhook as `--to` names it: the URL, and after # the options that the receiver must not see.
#pragma once

#include <memory>
#include <string_view>

#include <tarry/result.h>

#include "relay/sink.h"

namespace tarry::relay {

/// `url`: "https://host/path?query#timeout=10s&secret_file=..." Reads the files that it names.
/// Errors: `invalid_argument`; they hold no secret.
[[nodiscard]] Result<std::unique_ptr<Sink>> make_webhook_sink(std::string_view url);

}  // namespace tarry::relay
