#include "figures/lifecycle.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "figures/payloads.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

struct Tally {
  std::atomic<std::uint64_t> settled{0};
  std::atomic<std::uint64_t> pushed_proof{0};
  std::atomic<std::uint64_t> claimed_proof{0};
};

void client(Design& design, const Lifecycle& shape, std::size_t quota, std::uint64_t seed,
            const Payloads& payloads, Tally& tally) {
  std::mt19937_64 random(seed);
  std::vector<Message> batch;
  std::uint64_t pushed_proof = 0;
  std::uint64_t claimed_proof = 0;
  while (tally.settled.load() < shape.messages) {
    if (quota != 0) {
      batch.clear();
      const std::int64_t now = now_ms();
      for (std::size_t i = std::min(quota, shape.batch); i > 0; --i) {
        Message& message = batch.emplace_back();
        message.payload = payloads(random());
        message.due_ms = now + static_cast<std::int64_t>(
                                   random() % static_cast<std::uint64_t>(shape.delay_ms + 1));
        pushed_proof += proof_of(message.payload);
      }
      design.push(batch);
      quota -= batch.size();
    }
    const auto claimed = design.claim(shape.batch);
    if (claimed->size() == 0) {
      if (quota == 0) std::this_thread::yield();
      continue;
    }
    claimed_proof += claimed->proof();
    design.settle(*claimed);
    tally.settled.fetch_add(claimed->size());
  }
  tally.pushed_proof.fetch_add(pushed_proof);
  tally.claimed_proof.fetch_add(claimed_proof);
}

}  // namespace

double lifecycles_per_second(Design& design, const Lifecycle& shape) {
  const Payloads payloads(shape.payload);
  Tally tally;
  std::vector<std::thread> threads;
  const Stopwatch watch;
  for (std::size_t i = 0; i < shape.clients; ++i) {
    const std::size_t quota =
        shape.messages / shape.clients + (i < shape.messages % shape.clients ? 1 : 0);
    threads.emplace_back([&, quota, i] { client(design, shape, quota, i + 1, payloads, tally); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = watch.seconds();
  must(tally.settled.load() == shape.messages, "each message is settled once");
  must(tally.pushed_proof.load() == tally.claimed_proof.load(), "payloads come back as they went");
  return static_cast<double>(shape.messages) / seconds;
}

}  // namespace tarry::bench
