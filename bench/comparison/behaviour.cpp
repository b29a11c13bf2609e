// Measures what a design can do: whether a short delay waits behind a long one, cancel, reschedule.
#include <algorithm>

#include "comparison/measures.h"
#include "comparison/stamp.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

// Claims until message `number` comes or `end_ms` is reached. Returns the time of its arrival in
// microseconds; 0 if it never came.
std::int64_t arrival_of(Compared& consumer, std::uint64_t number, std::int64_t end_ms) {
  for (;;) {
    const std::int64_t left = end_ms - now_ms();
    if (left <= 0) return 0;
    const auto got = consumer.await(1, left);
    const std::int64_t now = wall_us();
    bool came = false;
    for (std::size_t i = 0; i < got->size(); ++i) {
      came = came || stamp_of(got->payload(i)).number == number;
    }
    if (got->size() > 0) consumer.settle(*got);
    if (came) return now;
  }
}

}  // namespace

void measure_line(const Job& job, Results& results) {
  constexpr std::int64_t kShortMs = 300;
  const Clients clients(job);
  StampedBatch batch;
  const std::int64_t now = now_ms();
  batch.add(1, now + job.effort.long_ms);
  clients.producer().push(batch.messages());
  batch.clear();
  const std::int64_t due = now_ms() + kShortMs;
  batch.add(2, due);
  clients.producer().push(batch.messages());
  const std::int64_t came = arrival_of(clients.consumer(), 2, now + job.effort.long_ms + 2'000);
  if (came != 0) results["short_late_ms"] = static_cast<double>(came - due * 1'000) / 1e3;
}

void measure_changes(const Job& job, Results& results) {
  const Clients clients(job);
  StampedBatch batch;
  const std::int64_t due = now_ms() + 500;
  batch.add(1, due);
  batch.add(2, now_ms() + kHourMs);
  clients.producer().push(batch.messages());
  const bool cancelled = clients.producer().cancel(batch.messages()[0]);
  const bool moved = clients.producer().reschedule(batch.messages()[1], now_ms() + 100);
  if (moved) {
    must(arrival_of(clients.consumer(), 2, now_ms() + 5'000) != 0, "what was moved comes");
  }
  if (cancelled) {
    must(arrival_of(clients.consumer(), 1, due + 300) == 0, "what was cancelled does not come");
  }
  results["cancel"] = cancelled ? 1 : 0;
  results["reschedule"] = moved ? 1 : 0;
}

}  // namespace tarry::bench
