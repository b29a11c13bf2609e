// Sinks by name: what `--to` says, as the sink that it names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "relay/child_process.h"
#include "relay/sink.h"

namespace tarry::app {

/// Commands at once, of one relay.
inline constexpr std::uint32_t kMaxCommands = 1'024;

struct SinkWish {
  std::string to;                     // "stdout", "command", or a URL
  std::vector<std::string> command;   // of "command"
  std::uint32_t concurrency = 1;      // of "command"
  relay::ChildOptions children = {};  // of "command"
  /// The sink is of no use any more; from a thread of its own.
  std::function<void(Error)> on_broken;
};

/// The kinds that were built in.
[[nodiscard]] std::vector<std::string_view> sink_kinds();

/// `to` as it may be shown: without a login, and of a webhook without path and query, in either of
/// which many receivers want a secret. What follows # names files and is shown.
[[nodiscard]] std::string shown_sink(std::string_view to);

/// Nothing is connected before the first message. Errors: `invalid_argument` for what names no
/// sink, `unsupported` for one that was not built in, and as ChildProcesses::check. They name
/// neither flag nor key.
[[nodiscard]] Result<std::unique_ptr<relay::Sink>> make_sink(const SinkWish& wish);

}  // namespace tarry::app
