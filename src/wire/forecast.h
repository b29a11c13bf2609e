// The forecast on the wire: how many messages fall due in each span of time.
//
//   GET .../forecast?width=1m&buckets=60  (or width_ms=60000; these are the defaults)
//   {"width_ms","due_now","buckets":[N,...],"later"}
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "wire/query.h"

namespace tarry::wire {

/// The query, with its '?'.
[[nodiscard]] std::string encode_forecast(const core::ForecastRequest& request);
/// Error: `invalid_argument` for a width that is given twice or is not a duration, and for values
/// that are not numbers. The engine checks the limits.
[[nodiscard]] Result<core::ForecastRequest> decode_forecast(std::string queue, Query& query);

[[nodiscard]] std::string encode_forecast_reply(const core::ForecastReply& reply, Millis width);
[[nodiscard]] Result<core::ForecastReply> decode_forecast_reply(std::string_view body);

}  // namespace tarry::wire
