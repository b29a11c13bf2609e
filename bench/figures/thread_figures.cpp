// F4: group commit: eight threads that push one message at a time, compared with one thread.
#include <fmt/format.h>

#include <thread>
#include <vector>

#include "designs/tarry_queue.h"
#include "figures/figures.h"
#include "figures/payloads.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kF4{"F4",    "8 threads pushing one at a time, sync=always, against one",
                     "ratio", Better::higher,
                     5,       7};

double pushes_per_second(const Run& run, std::size_t threads, std::size_t each) {
  const Scratch scratch(run.directory());
  const auto design = make_tarry_queue(scratch.path(), Sync::always);
  const Payloads payloads(100);
  const std::int64_t due = now_ms() + kHourMs;
  std::vector<std::thread> all;
  const Stopwatch watch;
  for (std::size_t i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      for (std::size_t n = 0; n < each; ++n) {
        const Message message{payloads(i * each + n), due};
        design->push({&message, 1});
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  return static_cast<double>(threads * each) / watch.seconds();
}

}  // namespace

void measure_group_commit(Run& run) {
  std::vector<double> ratios;
  const auto each = static_cast<std::size_t>(run.scaled(4'000));
  for (int round = 0; round < run.rounds(); ++round) {
    const double one = pushes_per_second(run, 1, each);
    const double eight = pushes_per_second(run, 8, each);
    run.note(fmt::format("1 thread {}/s, 8 threads {}/s", short_number(one), short_number(eight)));
    ratios.push_back(eight / one);
  }
  run.add(kF4, median_of(ratios));
}

}  // namespace tarry::bench
