// Projection: what becomes of a queue if its consumers claim a given number of messages a second:
// when its backlog is drained, and how late messages come. It is computed from a forecast.
//
// Plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tarry/queue.h>
#include <tarry/result.h>
#include <tarry/time.h>

namespace tarry {

struct ProjectionOptions {
  static constexpr double kMinRate = 0.001;       ///< messages a second
  static constexpr double kMaxRate = 10'000'000;  ///< messages a second

  double rate = 0;  ///< claims of all consumers together, a second: kMinRate to kMaxRate
  /// Messages a second that are due at once and so are not in the forecast: 0, or from kMinRate to
  /// kMaxRate.
  double arrivals = 0;
  Millis span{0};           ///< a multiple of the forecast's width; 0: the width
  std::uint32_t spans = 0;  ///< up to 10,000; 0: as many as the forecast's buckets fill
};

/// Lateness is the time from a message's due time to its claim. Messages that are ready already
/// count as due now.
struct ProjectedSpan {
  std::uint64_t due = 0;      ///< messages that fall due in it, arrivals among them
  std::uint64_t claimed = 0;  ///< backlog before + due = claimed + backlog
  std::uint64_t backlog = 0;  ///< ready messages at its end
  Millis late_p50{0};         ///< lateness of half of the messages that fall due in it
  Millis late_last{0};        ///< lateness of a message that falls due at its end
};

struct Projection {
  std::vector<ProjectedSpan> spans;
  /// How long from now until no message is ready for the first time; 0 if none is ready now. Empty:
  /// never at this rate.
  std::optional<Millis> drained;
  /// How long from now until the last backlog ends; 0 if none builds up. Empty: never at this rate.
  std::optional<Millis> clear;
  std::uint64_t backlog = 0;  ///< ready messages at the end of the last span
  Millis latest{0};           ///< the greatest lateness in the spans
  Millis latest_at{0};        ///< from now until that message is claimed
};

/// Messages are claimed in the order of their due times, and count as due evenly across their
/// bucket: choose narrow buckets for bursts. Messages due after the last bucket
/// (`Forecast::later`), retries and pauses are not foreseen. Error: `invalid_argument` for options
/// beyond their limits, and for a forecast with `from`. Times are at most some 285,000 years.
[[nodiscard]] Result<Projection> project(const Forecast& forecast,
                                         const ProjectionOptions& options);

}  // namespace tarry
