// Pushes a file of messages, one JSON object per line. It sends them in batches, a few batches at a
// time.
#pragma once

#include <optional>
#include <string>

#include <tarry/message.h>

#include "app/command_line/invocation.h"

namespace tarry::app {

struct BulkPush {
  std::string queue;
  std::string file;                   // "-": standard input
  std::optional<IfExists> if_exists;  // for lines that do not give their own
};

/// A bad line does not affect the others. Lines with the same key are pushed in the file's order.
/// If the store itself fails, nothing more is pushed, and the summary names the line at which this
/// happened.
[[nodiscard]] ExitCode bulk_push(Invocation& invocation, const BulkPush& bulk);

}  // namespace tarry::app
