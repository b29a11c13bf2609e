// A store's figures for Prometheus. A server's /metrics contains them, and so does
// <tarry/metrics.h>. docs/reference/metrics.md lists the names.
//
// Not thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <tarry/settings.h>
#include <tarry/time.h>

#include "core/figures/lateness_histogram.h"
#include "metrics/exposition.h"
#include "metrics/store_meter.h"

namespace tarry::metrics {

/// Whether figures of a queue may be shown. Empty: those of all queues, and of the whole store.
using Shown = std::function<bool(std::string_view queue)>;

/// `replies`: as in StoreMeter::metered. `now`: the store's time, from which ages are computed.
/// `meter` learns which queues exist.
void write_store_metrics(Exposition& out, const StoreStats& stats, StoreMeter& meter,
                         std::uint64_t replies, Time now, std::string_view version,
                         const Shown& shown = {});

/// Writes the samples of a family that has begun.
void write_histogram(Exposition& out, Label label, const core::LatenessHistogram& histogram);

}  // namespace tarry::metrics
