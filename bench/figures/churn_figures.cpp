// F7: the disk space of a store after hours of churn. The test moves the time. Every second some
// messages are pushed. Half of them are due in a second, the others in half an hour (so cleaning
// copies them several times) or in thirty days. Due messages are claimed and settled.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <tarry/store.h>

#include "figures/figures.h"
#include "figures/payloads.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::uint64_t kSegmentBytes = 64ull << 20;
constexpr Figure kF7{"F7",    "disk a live byte after hours of churn, less two segments",
                     "ratio", Better::lower,
                     1.7,     1.4};
constexpr Figure kMonths{
    "F7m", "the same, 30 minutes of 1-second and 30-day delays", "ratio", Better::lower, 1.7, 1.4};

struct Mix {
  std::uint64_t each_second = 0;
  std::int64_t long_ms = 0;  // the delay of every other message
  int seconds = 0;
  int from = 0;  // from this second on, the disk space is measured once a minute
};

void settle_all_due(const Queue& queue) {
  ClaimOptions options;
  options.max = 2'000;
  while (true) {
    const auto claimed = must(queue.claim(options), "claim");
    if (claimed.empty()) return;
    std::vector<Settle> settles;
    for (const Delivery& delivery : claimed) settles.emplace_back().receipt = delivery.receipt();
    must(queue.settle(settles), "settle");
  }
}

/// Returns the worst minute and the best.
Measured churn(Run& run, const Mix& mix) {
  const Scratch scratch(run.directory());
  ManualClock clock;
  OpenOptions options;
  options.clock = clock;
  Store store = must(open("file:" + scratch.path() + "?sync=os", std::move(options)), "open");
  const Queue queue = store.queue("bench");
  const Payloads payloads(100);
  std::vector<double> ratios;
  std::uint64_t number = 0;
  for (int second = 1; second <= mix.seconds; ++second) {
    std::vector<Push> batch(mix.each_second);
    for (Push& push : batch) {
      push.payload = payloads(number);
      push.due = number++ % 2 == 0 ? in(Millis(1'000)) : in(Millis(mix.long_ms));
    }
    must(queue.push(batch), "push");
    clock.advance(Millis(1'000));
    settle_all_due(queue);
    if (second <= mix.from || second % 60 != 0) continue;
    const auto stats = must(store.stats(), "stats");
    const auto disk = static_cast<double>(scratch.disk_bytes());
    const auto live = static_cast<double>(stats.live_bytes);
    ratios.push_back(std::max(0.0, disk - 2.0 * kSegmentBytes) / live);
    if (second % (mix.seconds / 6) == 0) {
      run.note(fmt::format("after {} min: live {} MB, disk {} MB", second / 60,
                           short_number(live / 1e6), short_number(disk / 1e6)));
    }
  }
  const double worst = *std::max_element(ratios.begin(), ratios.end());
  return {worst, *std::min_element(ratios.begin(), ratios.end()), worst};
}

}  // namespace

void measure_churn(Run& run) {
  run.add(kF7, churn(run, {run.scaled(1'000), 30 * 60'000, 3 * 3'600, 3'600}));
  run.add(kMonths, churn(run, {run.scaled(4'000), kMonthMs, 30 * 60, 10 * 60}));
}

}  // namespace tarry::bench
