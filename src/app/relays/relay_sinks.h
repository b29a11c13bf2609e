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

/// All kinds, including those that were not built in, in the order of the help.
[[nodiscard]] const std::vector<relay::SinkKind>& sink_kinds();

/// The kind that `to` names; null: none.
[[nodiscard]] const relay::SinkKind* find_sink_kind(std::string_view to);

/// The possible values of `--to`, in lines.
[[nodiscard]] std::string sink_help();

/// `to` as it may be shown: without a login, and, if its kind hides it, without path and query. The
/// text after # names files and is shown.
[[nodiscard]] std::string shown_sink(std::string_view to);

/// It connects only when the first message comes. Errors: `invalid_argument` for text that names no
/// sink, `unsupported` for one that was not built in, and as its kind's `make`. They name neither
/// flag nor key.
[[nodiscard]] relay::MadeSink make_sink(const relay::SinkWish& wish);

}  // namespace tarry::app
