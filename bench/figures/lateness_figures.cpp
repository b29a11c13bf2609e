// F9: lateness while 20,000 messages a second fall due, compared with a bare timer on the same
// machine at the same time.
#include <fmt/format.h>

#include <vector>

#include <tarry/store.h>

#include "figures/bare_timer.h"
#include "figures/figures.h"
#include "figures/steady.h"
#include "harness/must.h"
#include "harness/scratch.h"

namespace tarry::bench {
namespace {

constexpr Figure kF9{
    "F9", "lateness p99 at 20k/s, sync=always, beyond a bare timer's", "ms", Better::lower, 1, 0.2};

std::string percentiles(const base::Histogram& us) {
  return fmt::format("p50 {} us, p99 {} us, p99.9 {} us", us.percentile(50), us.percentile(99),
                     us.percentile(99.9));
}

}  // namespace

void measure_lateness(Run& run) {
  std::vector<double> beyond;
  for (int round = 0; round < run.rounds(); ++round) {
    const Scratch scratch(run.directory());
    Store store = must(open("file:" + scratch.path()), "open");
    BareTimer timer;
    const base::Histogram lateness = lateness_of(store.queue("bench"), Steady());
    const base::Histogram& bare = timer.stop();
    run.note(fmt::format("tarry {}; bare timer {}", percentiles(lateness), percentiles(bare)));
    beyond.push_back(static_cast<double>(lateness.percentile(99) - bare.percentile(99)) / 1e3);
  }
  run.add(kF9, median_of(beyond));
}

}  // namespace tarry::bench
