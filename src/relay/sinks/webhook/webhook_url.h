// A webhook in the form of `--to`: the URL and, after #, the options, which are not sent to the
// receiver.
#pragma once

#include <memory>
#include <string_view>

#include <tarry/result.h>

#include "relay/sink.h"

namespace tarry::relay {

/// `url`: "https://host/path?query#timeout=10s&secret_file=..." Reads the files that the options
/// name. Error: `invalid_argument`, whose text contains no secret.
[[nodiscard]] Result<std::unique_ptr<Sink>> make_webhook_sink(std::string_view url);

}  // namespace tarry::relay
