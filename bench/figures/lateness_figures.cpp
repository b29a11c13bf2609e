// F9: lateness while 20,000 messages a second fall due, beyond the least that it can be: a timer
// that fires, and one sync of the claim. Both are measured bare, and each counts with its own p99:
// the timer at the same time, the syncs right before and right after, when tarry does not sync.
#include <fmt/format.h>

#include <vector>

#include <tarry/store.h>

#include "figures/bare_syncs.h"
#include "figures/bare_timer.h"
#include "figures/figures.h"
#include "figures/steady.h"
#include "harness/must.h"
#include "harness/scratch.h"

namespace tarry::bench {
namespace {

constexpr Figure kF9{
    "F9", "lateness p99 at 20k/s, sync=always, beyond a bare timer and one fdatasync",
    "ms", Better::lower,
    0.6,  0.1};
constexpr double kSyncSeconds = 1;

std::string percentiles(const base::Histogram& us) {
  return fmt::format("p50 {} us, p99 {} us, p99.9 {} us", us.percentile(50), us.percentile(99),
                     us.percentile(99.9));
}

}  // namespace

void measure_lateness(Run& run) {
  std::vector<double> beyond;
  for (int round = 0; round < run.rounds(); ++round) {
    base::Histogram syncs = bare_syncs(run.directory(), kSyncSeconds);
    const Scratch scratch(run.directory());
    Store store = must(open("file:" + scratch.path()), "open");
    BareTimer timer;
    const base::Histogram lateness = lateness_of(store.queue("bench"), Steady());
    const base::Histogram& bare = timer.stop();
    syncs.merge(bare_syncs(run.directory(), kSyncSeconds));
    run.note(fmt::format("tarry {}; bare timer {}; one fdatasync {}", percentiles(lateness),
                         percentiles(bare), percentiles(syncs)));
    beyond.push_back(
        static_cast<double>(lateness.percentile(99) - bare.percentile(99) - syncs.percentile(99)) /
        1e3);
  }
  run.add(kF9, median_of(beyond));
}

}  // namespace tarry::bench
