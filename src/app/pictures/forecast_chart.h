// Forecasts for people: one bar per bucket, with a bucket width for which the chart fits the
// screen.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tarry/queue.h>

namespace tarry::app {

/// A bar in halves of a column, so that a small count is visible beside a large one. At most
/// `columns` columns, for `most`, which is above 0.
[[nodiscard]] std::string bar(std::uint64_t count, std::uint64_t most, std::size_t columns);

/// How far ahead the last message is due: the end of the last bucket that has a message; 0 if there
/// is none.
[[nodiscard]] Millis horizon_of(const Forecast& forecast);

/// The smallest of some common widths (1s 2s 5s … 30d … 10 years) with which `rows` rows reach the
/// horizon; if no width does, the largest.
[[nodiscard]] Millis width_for(Millis horizon, std::size_t rows);

/// The same forecast in wider buckets; empty buckets at the end are dropped. `width` must be a
/// multiple of the forecast's own width.
[[nodiscard]] Forecast widened(const Forecast& forecast, Millis width);

/// One line for the messages that are due now (or earlier than `from`), one for each bucket, and
/// one for later messages, each with a count and a bar. At most `columns` columns (0: 80). A bar's
/// length is proportional to its count. Ends in a newline.
[[nodiscard]] std::string forecast_text(const Forecast& forecast, std::size_t columns);

}  // namespace tarry::app
