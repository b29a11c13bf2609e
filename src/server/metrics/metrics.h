// /metrics: all figures of a store and its server, for Prometheus.
//
// docs/reference/metrics.md lists the names; a test compares the two.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <tarry/settings.h>
#include <tarry/time.h>

#include "metrics/store_metrics.h"
#include "server/limits/figures.h"
#include "server/metrics/meter.h"
#include "server/metrics/relay_figures.h"
#include "server/metrics/schedule_figures.h"

namespace tarry::metrics {

/// `replies`: as in StoreMeter::metered. `now`: the store's time, from which ages are computed.
/// `meter` learns which queues exist. `limits`: the server's. If `shown` is not empty, the text has
/// only figures of the queues for which it is true, and of `relays`. `schedules`: null if the
/// server runs none.
[[nodiscard]] std::string metrics_text(const StoreStats& stats, Meter& meter,
                                       const limits::Figures& limits, std::uint64_t replies,
                                       Time now, std::string_view version,
                                       std::span<const RelayFigures> relays = {},
                                       const Shown& shown = {},
                                       const ScheduleFigures* schedules = nullptr);

}  // namespace tarry::metrics
