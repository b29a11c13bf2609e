// F9: lateness while 20,000 messages a second fall due, beside a bare timer on the same machine at
// the same time. F10: a million messages due at one instant.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <tarry/store.h>

#include "figures/bare_timer.h"
#include "figures/figures.h"
#include "figures/payloads.h"
#include "figures/steady.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kF9{
    "F9", "lateness p99 at 20k/s, sync=always, beyond a bare timer's", "ms", Better::lower, 1, 0.2};
constexpr Figure kF10{
    "F10", "1M due at once, sync=always: from due to the last claimed", "s", Better::lower, 2, 0.7};

std::string percentiles(const base::Histogram& us) {
  return fmt::format("p50 {} us, p99 {} us, p99.9 {} us", us.percentile(50), us.percentile(99),
                     us.percentile(99.9));
}

double seconds_of_spike(const Run& run, std::uint64_t count) {
  const Scratch scratch(run.directory());
  Store store = must(open("file:" + scratch.path()), "open");
  const Queue queue = store.queue("bench");
  const Payloads payloads(100);
  // Far enough away that all are pushed by then.
  const auto ahead = static_cast<std::int64_t>(count / 100'000 + 2) * 1'000;
  const std::int64_t due = now_ms() + ahead;
  std::vector<Push> batch;
  for (std::uint64_t done = 0; done < count; done += batch.size()) {
    batch.assign(std::min<std::uint64_t>(count - done, 4'096), Push());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].payload = payloads(done + i);
      batch[i].due = Due::at(Time(Millis(due)));
    }
    must(queue.push(batch), "push");
  }
  must(now_ms() < due, "all are pushed before they are due");
  std::atomic<std::uint64_t> claimed{0};
  std::atomic<std::int64_t> last_us{0};
  std::vector<std::thread> claimers;
  for (int i = 0; i < 2; ++i) {
    claimers.emplace_back([&] {
      ClaimOptions options;
      options.max = 4'096;
      options.wait = Millis(1'000);
      while (claimed.load() < count) {
        const auto taken = must(queue.claim(options), "claim");
        const std::int64_t now = wall_us();
        for (std::int64_t last = last_us.load();
             !taken.empty() && last < now && !last_us.compare_exchange_weak(last, now);) {
        }
        claimed.fetch_add(taken.size());
      }
    });
  }
  for (std::thread& claimer : claimers) claimer.join();
  return static_cast<double>(last_us.load() - due * 1'000) / 1e6;
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

void measure_spike(Run& run) {
  std::vector<double> seconds;
  for (int round = 0; round < run.rounds(); ++round) {
    seconds.push_back(seconds_of_spike(run, run.scaled(1'000'000)));
  }
  run.add(kF10, median_of(seconds));
}

}  // namespace tarry::bench
