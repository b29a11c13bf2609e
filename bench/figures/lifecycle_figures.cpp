// F1, F2, F3: lifecycles against RocksDB and LMDB, and against two limits, the bare log and the
// sketch, in turns.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "designs/limits/bare_log.h"
#include "designs/limits/sketch.h"
#include "designs/lmdb_queue.h"
#include "designs/rocksdb_queue.h"
#include "designs/tarry_queue.h"
#include "figures/figures.h"
#include "figures/lifecycle.h"
#include "harness/scratch.h"

namespace tarry::bench {
namespace {

constexpr Figure kF1{"F1",    "lifecycles, sync=always, batches of 256, against RocksDB",
                     "ratio", Better::higher,
                     4,       6};
constexpr Figure kF2{
    "F2",    "the same against a bare log with the same syncs, as many clients sharing them",
    "ratio", Better::higher,
    0.5,     0.8};
constexpr Figure kF3{
    "F3", "lifecycles, sync=none, batches of 256, against LMDB", "ratio", Better::higher, 1.5, 2.5};
constexpr Figure kF3Sketch{
    "F3s",   "the same against a sketch: wheel, slab and log, no index, no recovery",
    "ratio", Better::higher,
    0.6,     0.9};

using Make = std::unique_ptr<Design> (*)(const std::string& path, Sync sync);

std::unique_ptr<Design> make_tarry(const std::string& path, Sync sync) {
  return make_tarry_queue(path, sync);
}

// tarry with four shards, for runs without syncs: clients in different shards do not disturb each
// other.
std::unique_ptr<Design> make_tarry_in_four(const std::string& path, Sync sync) {
  return make_tarry_queue(path, sync, "&shards=4");
}

// Each design runs with the number of clients that suits it best: tarry, RocksDB and the bare log
// share syncs among clients, and LMDB has one writer at a time.
class Contest {
 public:
  Contest(Run& run, Sync sync, std::uint64_t messages) : run_(&run), sync_(sync) {
    shape_.messages = static_cast<std::size_t>(run.scaled(messages));
  }

  /// The best rate of one round over these numbers of clients.
  double best(std::string_view name, Make make, std::initializer_list<std::size_t> clients) {
    double best = 0;
    std::string all;
    for (const std::size_t count : clients) {
      const Scratch scratch(run_->directory());
      const auto design = make(scratch.path(), sync_);
      shape_.clients = count;
      const double rate = lifecycles_per_second(*design, shape_);
      all += fmt::format(", {} {}k", count, short_number(rate / 1e3));
      best = std::max(best, rate);
    }
    run_->note(fmt::format("{}/s by clients: {}", name, all.substr(2)));
    return best;
  }

 private:
  Run* run_;
  Sync sync_;
  Lifecycle shape_;
};

}  // namespace

void measure_against_rocksdb(Run& run) {
  std::vector<double> f1;
  std::vector<double> f2;
  Contest contest(run, Sync::always, 1'000'000);
  for (int round = 0; round < run.rounds(); ++round) {
    const double ours = contest.best("tarry", make_tarry, {1, 4, 16, 32, 64});
    const double rocksdb = contest.best("RocksDB", make_rocksdb_queue, {1, 4, 16, 32, 64});
    const double log = contest.best("bare log", make_bare_log, {1, 4, 16, 32, 64});
    f1.push_back(ours / rocksdb);
    f2.push_back(ours / log);
  }
  run.add(kF1, median_of(f1));
  run.add(kF2, median_of(f2));
}

void measure_against_lmdb(Run& run) {
  std::vector<double> f3;
  std::vector<double> of_sketch;
  Contest contest(run, Sync::none, 1'000'000);
  for (int round = 0; round < run.rounds(); ++round) {
    const double ours = std::max(contest.best("tarry", make_tarry, {1, 2, 4, 8, 16, 32}),
                                 contest.best("tarry, 4 shards", make_tarry_in_four, {2, 4, 8}));
    const double lmdb = contest.best("LMDB", make_lmdb_queue, {1, 2});
    const double sketch = contest.best("sketch", make_sketch, {1, 2, 4, 8});
    f3.push_back(ours / lmdb);
    of_sketch.push_back(ours / sketch);
  }
  run.add(kF3, median_of(f3));
  run.add(kF3Sketch, median_of(of_sketch));
}

}  // namespace tarry::bench
