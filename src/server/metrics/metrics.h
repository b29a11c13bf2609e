// /metrics: all that is known of a store and its server, for Prometheus to read.
//
// Pure function. docs/reference/metrics.md lists the names; a test compares.
#pragma once

#include <string>
#include <string_view>

#include <tarry/settings.h>
#include <tarry/time.h>

#include "server/metrics/meter.h"

namespace tarry::metrics {

/// `now`: by the store's clock, for ages.
[[nodiscard]] std::string metrics_text(const StoreStats& stats, const Meter& meter, Time now,
                                       std::string_view version);

}  // namespace tarry::metrics
