// How late messages come while 5,000 messages per second with random delays are pushed; and a calm
// run of the same, which shows whether messages are lost.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "comparison/measures.h"
#include "comparison/stamp.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kClaimMost = 100;

struct Load {
  std::uint64_t per_second;
  std::int64_t push_ms;
  std::int64_t delay_ms;
};

// Pushes, every 5 ms, the messages of these 5 ms. A producer that is late catches up.
void push_steadily(Compared& producer, const Load& load) {
  using namespace std::chrono;
  constexpr std::int64_t kSliceMs = 5;
  std::mt19937_64 random(7);
  StampedBatch batch;
  std::uint64_t pushed = 0;
  const auto begin = system_clock::now();
  for (std::int64_t at = kSliceMs; at <= load.push_ms; at += kSliceMs) {
    std::this_thread::sleep_until(begin + milliseconds(at));
    batch.clear();
    for (; pushed < static_cast<std::uint64_t>(at) * load.per_second / 1'000; ++pushed) {
      batch.add(pushed, now_ms() + static_cast<std::int64_t>(
                                       random() % static_cast<std::uint64_t>(load.delay_ms + 1)));
    }
    producer.push(batch.messages());
  }
}

struct Arrivals {
  std::vector<double> late_ms;
  std::vector<std::uint8_t> times;  // by number
  double early = 0;
};

// Waits until all messages have come. A message is missing if it has not come `grace_ms` after the
// last one was due.
Arrivals live_through(const Job& job, const Load& load, std::int64_t grace_ms) {
  const Clients clients(job);
  const std::uint64_t all = static_cast<std::uint64_t>(load.push_ms) * load.per_second / 1'000;
  Arrivals arrivals;
  arrivals.times.resize(all);
  arrivals.late_ms.reserve(all);
  std::atomic<std::int64_t> end{INT64_MAX};
  std::thread producer([&] {
    push_steadily(clients.producer(), load);
    end = now_ms() + load.delay_ms + grace_ms;
  });
  while (arrivals.late_ms.size() < all && now_ms() < end) {
    const std::int64_t left = std::min<std::int64_t>(end - now_ms(), 2'000);
    const auto got = clients.consumer().await(kClaimMost, std::max<std::int64_t>(left, 1));
    const std::int64_t now = wall_us();
    for (std::size_t i = 0; i < got->size(); ++i) {
      const Stamp stamp = stamp_of(got->payload(i));
      const double late = static_cast<double>(now - stamp.due_ms * 1'000) / 1e3;
      if (late < 0) ++arrivals.early;
      arrivals.late_ms.push_back(late);
      ++arrivals.times.at(stamp.number);
    }
    if (got->size() > 0) clients.consumer().settle(*got);
  }
  producer.join();
  return arrivals;
}

double percentile(const std::vector<double>& sorted, double percent) {
  const auto at = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(at, 1.0)) - 1];
}

}  // namespace

void measure_lateness(const Job& job, Results& results) {
  const Effort& effort = job.effort;
  Arrivals arrivals =
      live_through(job, {effort.per_second, effort.push_ms, effort.delay_ms}, effort.grace_ms);
  results["lateness_early"] = arrivals.early;
  results["lateness_missing"] =
      static_cast<double>(std::ranges::count(arrivals.times, std::uint8_t{0}));
  std::vector<double>& late = arrivals.late_ms;
  if (late.empty()) return;
  std::ranges::sort(late);
  results["lateness_p50_ms"] = percentile(late, 50);
  results["lateness_p90_ms"] = percentile(late, 90);
  results["lateness_p99_ms"] = percentile(late, 99);
  results["lateness_max_ms"] = late.back();
}

void measure_calm(const Job& job, Results& results) {
  const Arrivals arrivals = live_through(job, {1'000, 200, 300}, 20'000);
  results["calm_pushed"] = static_cast<double>(arrivals.times.size());
  results["calm_early"] = arrivals.early;
  results["calm_lost"] = static_cast<double>(std::ranges::count(arrivals.times, std::uint8_t{0}));
  results["calm_doubled"] = static_cast<double>(
      std::ranges::count_if(arrivals.times, [](std::uint8_t times) { return times > 1; }));
}

}  // namespace tarry::bench
