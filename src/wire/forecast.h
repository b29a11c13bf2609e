// The forecast on the wire: how many messages fall due in each span of time.
//
//   GET .../forecast?width=1m&buckets=60  (or width_ms=60000; these are the defaults)
//   {"width_ms","due_now","buckets":[N,...],"later"}
//
// With rate=N, and arrivals=N or none (the default), the answer also has what becomes of them:
//
//   "projection":{"rate","arrivals","drained_in_ms","clear_in_ms","backlog","latest_ms",
//                 "latest_in_ms","span_ms","spans":[{"due","claimed","backlog","late_p50_ms",
//                 "late_last_ms"},...]}
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/projection.h>
#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "wire/parts/query.h"

namespace tarry::wire {

/// The query, with its '?'.
[[nodiscard]] std::string encode_forecast(const core::ForecastRequest& request);
/// Error: `invalid_argument` for a width that is given twice or is not a duration, and for values
/// that are not numbers. The engine checks the limits.
[[nodiscard]] Result<core::ForecastRequest> decode_forecast(std::string queue, Query& query);

/// The parameters `rate` and `arrivals`; nothing if both are absent. Call it before
/// `decode_forecast`, which reports what is wrong with them.
[[nodiscard]] std::optional<ProjectionOptions> read_projection(Query& query);

/// A projection, and the options from which it was made. Its spans are as wide as `span`, or as
/// the forecast's buckets if that is 0.
struct Projected {
  ProjectionOptions options;
  Projection projection;
};
[[nodiscard]] std::string encode_forecast_reply(const core::ForecastReply& reply, Millis width,
                                                const std::optional<Projected>& projected = {});
[[nodiscard]] Result<core::ForecastReply> decode_forecast_reply(std::string_view body);

}  // namespace tarry::wire
