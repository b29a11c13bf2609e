// Rates of pushes and claims, and the number of commands per message.
#include <chrono>
#include <thread>

#include "comparison/measures.h"
#include "comparison/stamp.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kRateBatch = 100;

// Pushes until all messages are pushed or the time is over. Returns how many were pushed.
std::uint64_t push_until(Compared& producer, const Effort& effort, std::int64_t due_ms) {
  StampedBatch batch;
  std::uint64_t pushed = 0;
  const Stopwatch watch;
  while (pushed < effort.rate_messages &&
         watch.seconds() * 1e3 < static_cast<double>(effort.box_ms)) {
    batch.clear();
    for (std::size_t i = 0; i < kRateBatch; ++i) batch.add(pushed++, due_ms);
    producer.push(batch.messages());
  }
  return pushed;
}

void push_and_claim(const Job& job, Results& results) {
  const Clients clients(job);
  // No message is due before the last one is pushed.
  const std::int64_t due = now_ms() + job.effort.box_ms + 100;
  const Stopwatch pushing;
  const std::uint64_t pushed = push_until(clients.producer(), job.effort, due);
  results["push_rate"] = static_cast<double>(pushed) / pushing.seconds();

  const std::int64_t ready = due + job.effort.rounded_ms;
  std::this_thread::sleep_until(
      std::chrono::system_clock::time_point(std::chrono::milliseconds(ready)));
  const Stopwatch claiming;
  std::uint64_t claimed = 0;
  double last = 0;
  while (claimed < pushed) {
    const double left_ms = static_cast<double>(job.effort.box_ms) - claiming.seconds() * 1e3;
    if (left_ms <= 0) break;
    const auto got = clients.consumer().await(kRateBatch, static_cast<std::int64_t>(left_ms) + 1);
    if (got->size() == 0) continue;
    clients.consumer().settle(*got);
    claimed += got->size();
    last = claiming.seconds();
  }
  if (claimed > 0) results["claim_rate"] = static_cast<double>(claimed) / last;
}

// Each batch is due at once. It is claimed and settled before the next one is pushed.
void live(const Job& job, Results& results) {
  const Clients clients(job);
  job.hosts.begin_counting();
  const std::uint64_t before = clients.producer().requests() + clients.consumer().requests();
  StampedBatch batch;
  std::uint64_t pushed = 0;
  std::uint64_t claimed = 0;
  const double most_s = static_cast<double>(job.effort.box_ms) / 1e3;
  const Stopwatch watch;
  double last = 0;
  const auto claim = [&](std::int64_t wait_ms) {
    const auto got = clients.consumer().await(kRateBatch, wait_ms);
    if (got->size() == 0) return;
    clients.consumer().settle(*got);
    claimed += got->size();
    last = watch.seconds();
  };
  while (pushed < job.effort.rate_messages && watch.seconds() < most_s) {
    batch.clear();
    for (std::size_t i = 0; i < kRateBatch; ++i) batch.add(pushed++, now_ms());
    clients.producer().push(batch.messages());
    claim(0);
  }
  while (claimed < pushed && watch.seconds() < 2 * most_s) claim(50);
  if (claimed == 0) return;
  results["lifecycle_rate"] = static_cast<double>(claimed) / last;
  const std::uint64_t after = clients.producer().requests() + clients.consumer().requests();
  results["commands"] = (job.hosts.redis_commands() + static_cast<double>(after - before)) /
                        static_cast<double>(claimed);
  if (const double us = job.hosts.redis_us(); us > 0) {
    results["redis_us"] = us / static_cast<double>(claimed);
  }
}

}  // namespace

void measure_rates(const Job& job, Results& results) {
  push_and_claim(job, results);
  live(job, results);
}

}  // namespace tarry::bench
