// Prints the answers of verbs on several keys or receipts, item by item.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/settings.h>

#include "app/output/output.h"

namespace tarry::app {

/// Prints one row, or JSON object, for each of `names`, with its answer. `what`: what the names are
/// (keys or receipts). Returns the worst exit code.
[[nodiscard]] ExitCode print_answers(Output& output, std::string_view what,
                                     const std::vector<std::string>& names,
                                     const std::vector<Result<Answer>>& answers);

/// Prints an error for each queue that the store could not read. Returns the worst exit code.
[[nodiscard]] ExitCode tell_unreadable(Output& output, const StoreStats& stats);

}  // namespace tarry::app
