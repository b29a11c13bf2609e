// The kinds of sinks that this program has, and the sink that `--to` names.
//
// Thread safety: pure functions, except for files that a sink's URL names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "relay/sinks/kind.h"

namespace tarry::app {

/// All kinds, in the order of the help, including those that are not built in.
[[nodiscard]] const std::vector<relay::SinkKind>& sink_kinds();

/// The kind that `to` names; null if it names none.
[[nodiscard]] const relay::SinkKind* find_sink_kind(std::string_view to);

/// The possible values of `--to`, in lines.
[[nodiscard]] std::string sink_help();

/// `to` without secrets, for display: without a login, and without path and query if its kind hides
/// these. The text after # names files and is shown.
[[nodiscard]] std::string shown_sink(std::string_view to);

/// Makes the sink, which connects only when its first message comes. Errors: `invalid_argument` for
/// text that names no sink, `unsupported` for a sink that is not built in, and those of the kind's
/// `make`. The errors name neither the flag nor the configuration's key.
[[nodiscard]] relay::MadeSink make_sink(const relay::SinkWish& wish);

}  // namespace tarry::app
