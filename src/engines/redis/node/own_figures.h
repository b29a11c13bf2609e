// What a process alone knows of its work on a store in Redis, added to the store's figures.
//
// Pure function.
#pragma once

#include <tarry/settings.h>

#include "base/histogram.h"
#include "engines/redis/node/server.h"

namespace tarry::redis {

/// `lateness`: of the claims that this process made, in ms.
inline void add_own_figures(StoreStats& stats, const base::Histogram& lateness,
                            const Server& server) {
  stats.lateness = {lateness.count(), static_cast<double>(lateness.percentile(50)),
                    static_cast<double>(lateness.percentile(99)),
                    static_cast<double>(lateness.percentile(99.9)),
                    static_cast<double>(lateness.max())};
  stats.round_trips = server.round_trips();
  stats.connections = server.connections();
}

}  // namespace tarry::redis
