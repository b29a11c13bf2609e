// Projections for people: one line that answers, and a table with a bar for each backlog.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <tarry/projection.h>
#include <tarry/time.h>

namespace tarry::app {

struct Foreseen {
  Forecast forecast;
  ProjectionOptions options;  // from which `projection` was made; its span is not 0
  Projection projection;
  /// The store's time at the forecast; empty if it is not known: then no moments are named.
  std::optional<Time> now = {};
};

/// When the backlog is drained, and how late the latest message comes. Without a newline.
[[nodiscard]] std::string projection_line(const Foreseen& foreseen);

/// One line for the messages that are due now, and one for each span. At most `columns` columns (0:
/// 80), and more if the figures need them. Ends in a newline.
[[nodiscard]] std::string projection_text(const Foreseen& foreseen, std::size_t columns);

}  // namespace tarry::app
