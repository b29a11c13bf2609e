// Pushes a file of messages, one JSON object a line, in batches, a few of them in flight.
#pragma once

#include <optional>
#include <string>

#include <tarry/message.h>

#include "app/command_line/session.h"

namespace tarry::app {

struct BulkPush {
  std::string queue;
  std::string file;                   // "-": standard input
  std::optional<IfExists> if_exists;  // for the lines that do not say
};

/// A bad line fails alone. Lines of one key are pushed in the file's order. Once the store itself
/// fails nothing more is pushed, and the summary says at which line that was.
[[nodiscard]] ExitCode bulk_push(Session& session, const BulkPush& bulk);

}  // namespace tarry::app
