// Measures what a push and a claim cost while many messages are pending, and the memory and disk
// space that a pending message takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "comparison/measures.h"
#include "comparison/stamp.h"
#include "harness/child.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kFillBatch = 100;

// Pending messages are due in an hour to 30 days.
std::uint64_t fill(Compared& producer, std::uint64_t from, std::uint64_t to, std::int64_t most_ms) {
  std::mt19937_64 random(from + 11);
  StampedBatch batch;
  const Stopwatch watch;
  while (from < to && watch.seconds() * 1e3 < static_cast<double>(most_ms)) {
    batch.clear();
    for (std::size_t i = 0; i < kFillBatch && from < to; ++i) {
      batch.add(from++,
                now_ms() + kHourMs +
                    static_cast<std::int64_t>(random() % std::uint64_t{kMonthMs - kHourMs}));
    }
    producer.push(batch.messages());
  }
  return from;
}

// The cost of messages that are due at once and are claimed at once, while the others stay pending.
struct Cost {
  double push_us = 0;   // per message
  double claim_us = 0;  // per message; 0: none was claimed in time
};

Cost work_among(const Clients& clients, const Effort& effort) {
  constexpr std::uint64_t kFirst = 900'000'000'000;
  StampedBatch batch;
  std::uint64_t pushed = 0;
  const double box_s = std::max(static_cast<double>(effort.box_ms) / 1e3, 1.2);
  const Stopwatch pushing;
  while (pushed < effort.among && pushing.seconds() < box_s) {
    batch.clear();
    for (std::size_t i = 0; i < kFillBatch; ++i) batch.add(kFirst + pushed++, now_ms());
    clients.producer().push(batch.messages());
  }
  const double push_s = pushing.seconds();
  std::uint64_t claimed = 0;
  double last = 0;
  const Stopwatch claiming;
  while (claimed < pushed && claiming.seconds() < box_s) {
    const auto left = static_cast<std::int64_t>((box_s - claiming.seconds()) * 1e3);
    const auto got = clients.consumer().await(kFillBatch, std::max<std::int64_t>(left, 1));
    if (got->size() == 0) continue;
    clients.consumer().settle(*got);
    claimed += got->size();
    last = claiming.seconds();
  }
  return {push_s * 1e6 / static_cast<double>(pushed),
          claimed == 0 ? 0 : last * 1e6 / static_cast<double>(claimed)};
}

// Takes the median of three, because a stall of the machine lasts longer than all this work.
void work_among(const Clients& clients, const Effort& effort, std::uint64_t pending,
                Results& results) {
  std::array<Cost, 3> costs;
  for (Cost& cost : costs) {
    cost = work_among(clients, effort);
    if (cost.claim_us == 0) return;
  }
  std::ranges::sort(costs, {}, &Cost::push_us);
  results[fmt::format("growth_{}_push_us", pending)] = costs[1].push_us;
  std::ranges::sort(costs, {}, &Cost::claim_us);
  results[fmt::format("growth_{}_claim_us", pending)] = costs[1].claim_us;
}

}  // namespace

void measure_growth(const Job& job, Results& results) {
  const bool local = job.entry.in_process;
  auto clients = std::make_unique<Clients>(job);
  const auto memory = [&] {
    if (local) return anonymous_bytes();
    clients.reset();  // the buffers of a connection do not count as messages' memory
    const double bytes = job.hosts.server_bytes(job.entry);
    clients = std::make_unique<Clients>(job);
    return bytes;
  };
  const double memory_before = memory();
  const double disk_before = job.hosts.disk_bytes(job.entry);
  std::uint64_t number = 0;
  for (const std::uint64_t pending : job.effort.pending) {
    number = fill(clients->producer(), number, pending, job.effort.fill_ms);
    const auto count = static_cast<double>(number);
    results["memory_bytes"] = (memory() - memory_before) / count;
    results["disk_bytes"] = (job.hosts.disk_bytes(job.entry) - disk_before) / count;
    results["growth_reached"] = count;
    if (number < pending) return;
    work_among(*clients, job.effort, pending, results);
  }
}

}  // namespace tarry::bench
