// Records with 100-byte payloads: encodes, decodes and applies them to a shard's state; and finds
// keys.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/crc32c.h"
#include "engines/embedded/records/records.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::bench {
namespace {

using namespace embedded;  // NOLINT: a benchmark of nothing else

constexpr Handle kCount = 100'000;

PutRecord a_put(Handle handle, std::string_view payload, std::string_view key) {
  PutRecord record;
  record.ref = {handle, std::uint64_t{handle} + 1};
  record.due_ms = 1'000'000 + std::int64_t{handle} * 7'919 % 3'600'000;
  record.priority = 1'024;
  record.generated_key = key.empty();
  record.key = key;
  record.payload = payload;
  record.payload_crc = base::crc32c(payload);
  return record;
}

std::string key_of(Handle handle) { return "order:" + std::to_string(1'000'000 + handle); }

void record_encode(benchmark::State& state) {
  const std::string payload(100, 'x');
  std::string out;
  for (auto _ : state) {
    out.clear();
    for (Handle handle = 0; handle < 256; ++handle) append_record(out, a_put(handle, payload, {}));
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * 256);
}
BENCHMARK(record_encode);

void record_decode(benchmark::State& state) {
  const std::string payload(100, 'x');
  std::string bytes;
  for (Handle handle = 0; handle < 256; ++handle) append_record(bytes, a_put(handle, payload, {}));
  for (auto _ : state) {
    std::string_view in = bytes;
    while (!in.empty()) {
      const auto record = take_record(in);
      benchmark::DoNotOptimize(&record);
    }
  }
  state.SetItemsProcessed(state.iterations() * 256);
}
BENCHMARK(record_decode);

struct StateWithQueue {
  StateWithQueue() {
    QueueRecord queue;
    queue.name = "bench";
    state.evolve(queue);
  }
  void put_all(bool keys) {
    const std::string payload(100, 'x');
    for (Handle handle = 0; handle < kCount; ++handle) {
      const std::string key = keys ? key_of(handle) : std::string();
      state.evolve(a_put(handle, payload, key), 1, Position(1, std::uint64_t{handle} * 152, 152));
    }
  }
  ShardState state{ShardState::Identity{}, timing::Instant{1'000, 1'000}};
};

void state_put(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto shard = std::make_unique<StateWithQueue>();
    state.ResumeTiming();
    shard->put_all(state.range(0) != 0);
    state.PauseTiming();
    shard.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t{kCount});
}
BENCHMARK(state_put)->Arg(0)->Arg(1)->ArgName("keys")->Unit(benchmark::kMillisecond);

void index_find(benchmark::State& state) {
  StateWithQueue shard;
  shard.put_all(true);
  std::vector<std::string> keys;
  for (Handle handle = 0; handle < kCount; handle += 7) keys.push_back(key_of(handle));
  for (auto _ : state) {
    for (const std::string& key : keys) {
      Handle found =
          shard.state.index.find(shard.state.key_hash(0, key), [](Handle) { return true; });
      benchmark::DoNotOptimize(found);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys.size()));
}
BENCHMARK(index_find);

}  // namespace
}  // namespace tarry::bench
