// The wheel with a million timers in it, whose deadlines are spread over an hour.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "timing/test_wheel.h"
#include "timing/wheel.h"

namespace tarry::bench {
namespace {

using timing::test::Handle;
using timing::test::Node;
using timing::test::Slab;
using WheelOfNodes = timing::Wheel<Slab>;

constexpr std::size_t kTimers = 1'000'000;
constexpr std::int64_t kHourMs = 3'600'000;

std::vector<Node> random_nodes() {
  std::mt19937_64 random(1);
  std::vector<Node> nodes(kTimers);
  for (Node& node : nodes) {
    node.next = node.prev = WheelOfNodes::kNone;
    node.deadline = 1 + static_cast<std::int64_t>(random() % std::uint64_t{kHourMs});
  }
  return nodes;
}

void insert_all(WheelOfNodes& wheel) {
  for (Handle handle = 0; handle < kTimers; ++handle) wheel.insert(handle);
}

void wheel_insert(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<Node> nodes = random_nodes();
    WheelOfNodes wheel({&nodes}, 0);
    state.ResumeTiming();
    insert_all(wheel);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTimers));
}
BENCHMARK(wheel_insert)->Unit(benchmark::kMillisecond);

void wheel_remove(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<Node> nodes = random_nodes();
    WheelOfNodes wheel({&nodes}, 0);
    insert_all(wheel);
    state.ResumeTiming();
    for (Handle handle = 0; handle < kTimers; ++handle) wheel.remove(handle);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTimers));
}
BENCHMARK(wheel_remove)->Unit(benchmark::kMillisecond);

void wheel_expire(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<Node> nodes = random_nodes();
    WheelOfNodes wheel({&nodes}, 0);
    insert_all(wheel);
    std::size_t expired = 0;
    state.ResumeTiming();
    // As a shard does it: one tick at a time, but only ticks with expired timers.
    while (const auto due = wheel.next_due()) {
      expired += wheel.advance_to(*due, [](Handle handle) { benchmark::DoNotOptimize(handle); });
    }
    if (expired != kTimers) state.SkipWithError("not all expired");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTimers));
}
BENCHMARK(wheel_expire)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tarry::bench
