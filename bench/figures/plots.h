// Measures and draws the pictures of docs/performance.md.
#pragma once

#include <string>

#include "harness/run.h"

namespace tarry::bench {

/// Writes into `directory`: lifecycles-by-batch.svg and lifecycles-by-clients.svg (tarry, RocksDB,
/// LMDB), cost-by-pending.svg, lateness-by-load.svg.
void draw_plots(const Run& run, const std::string& directory);

}  // namespace tarry::bench
