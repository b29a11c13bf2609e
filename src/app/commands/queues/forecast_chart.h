// Forecasts as people look at them: a bar for each bucket that falls due, in widths that fit a
// screen.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include <tarry/queue.h>

namespace tarry::app {

/// How far ahead there are messages: the end of the last bucket with a message, 0 without one.
[[nodiscard]] Millis horizon_of(const Forecast& forecast);

/// The smallest of some common widths (1s 2s 5s … 30d … 10 years) with which `rows` rows reach the
/// horizon; the largest if none does.
[[nodiscard]] Millis width_for(Millis horizon, std::size_t rows);

/// The same in wider buckets, and only as many as have messages. `width` is a multiple of the
/// forecast's own.
[[nodiscard]] Forecast widened(const Forecast& forecast, Millis width);

/// A line for messages that are due now, for each bucket, and for later ones, with its count and a
/// bar; at most `columns` columns (0: 80). A bar's length is proportional to its count. Ends in a
/// newline.
[[nodiscard]] std::string forecast_text(const Forecast& forecast, std::size_t columns);

}  // namespace tarry::app
