#include "figures/steady.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "figures/payloads.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

using WallClock = std::chrono::system_clock;

// Pushes every few milliseconds, evenly, the messages that fall due `delay_ms` later.
void push_all(const Queue& queue, const Steady& load) {
  constexpr std::int64_t kSliceMs = 5;
  const Payloads payloads(load.payload);
  const std::int64_t start_ms = wall_us() / 1'000;
  std::vector<Push> batch;
  std::uint64_t pushed = 0;
  for (std::int64_t at = 0; at < load.seconds * 1'000; at += kSliceMs) {
    batch.clear();
    const auto until = static_cast<std::uint64_t>(at + kSliceMs) * load.per_second / 1'000;
    for (; pushed < until; ++pushed) {
      Push& push = batch.emplace_back();
      push.payload = payloads(pushed * 4'099);
      push.due = Due::at(Time(Millis(start_ms + load.delay_ms +
                                     static_cast<std::int64_t>(pushed * 1'000 / load.per_second))));
    }
    if (!batch.empty()) must(queue.push(batch), "push");
    std::this_thread::sleep_until(WallClock::time_point(Millis(start_ms + at + kSliceMs)));
  }
}

}  // namespace

base::Histogram lateness_of(const Queue& queue, const Steady& load) {
  base::Histogram lateness;
  const std::uint64_t all = load.per_second * static_cast<std::uint64_t>(load.seconds);
  std::thread pusher([&] { push_all(queue, load); });
  std::atomic<std::uint64_t> settling{0};
  std::uint64_t claimed = 0;
  ClaimOptions options;
  options.max = 1'000;
  options.wait = Millis(1'000);
  while (claimed < all) {
    const auto batch = must(queue.claim(options), "claim");
    const std::int64_t now = wall_us();
    std::vector<Settle> settles;
    for (const Delivery& delivery : batch) {
      lateness.record(now - delivery.due().time_since_epoch().count() * 1'000);
      settles.emplace_back().receipt = delivery.receipt();
    }
    claimed += batch.size();
    if (settles.empty()) continue;
    settling.fetch_add(1);
    queue.settle(settles, [&settling](Result<std::vector<Result<Answer>>> settled) {
      must(settled.has_value(), "settle");
      settling.fetch_sub(1);
    });
  }
  pusher.join();
  while (settling.load() != 0) std::this_thread::yield();
  return lateness;
}

}  // namespace tarry::bench
