// F10: a million messages due at one instant; and the same while one client cancels every tenth of
// them by its key, as fast as it can. Each message must end exactly once: claimed or cancelled.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tarry/store.h>

#include "base/histogram.h"
#include "figures/figures.h"
#include "figures/payloads.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kPlain{"F10", "1M due at once, sync=always: from due to the last claimed",
                        "s",   Better::lower,
                        0.7,   0.35};
constexpr Figure kCancelled{"F10c", "the same while 100k are cancelled", "s", Better::lower, 0.7,
                            0.35};

constexpr std::uint64_t kCancelEvery = 10;

std::string key_of(std::uint64_t number) { return fmt::format("order:{}", number); }

void fill(const Queue& queue, std::uint64_t count, std::int64_t due_ms) {
  const Payloads payloads(100);
  std::vector<Push> batch;
  std::vector<std::string> keys;
  for (std::uint64_t done = 0; done < count; done += batch.size()) {
    batch.assign(std::min<std::uint64_t>(count - done, 4'096), Push());
    keys.assign(batch.size(), {});
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].payload = payloads(done + i);
      batch[i].due = Due::at(Time(Millis(due_ms)));
      if ((done + i) % kCancelEvery != 0) continue;
      keys[i] = key_of(done + i);
      batch[i].key = keys[i];
    }
    must(queue.push(batch), "push");
  }
}

class Spike {
 public:
  Spike(const Queue& queue, std::uint64_t count, std::int64_t due_ms)
      : queue_(queue), count_(count), due_us_(due_ms * 1'000) {}

  void run(bool cancels) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([this] { claim(); });
    if (cancels) threads.emplace_back([this] { cancel(); });
    for (std::thread& thread : threads) thread.join();
    must(claimed_.load() + cancelled_.load() == count_, "each is claimed once, or cancelled");
  }
  /// From the due time to the last claim.
  [[nodiscard]] double seconds() const { return static_cast<double>(lateness_.max()) / 1e6; }
  [[nodiscard]] std::string told() const {
    std::string text = "lateness";
    for (const double percent : {1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 99.0, 100.0}) {
      text += fmt::format(" p{} {}", percent,
                          static_cast<double>(lateness_.percentile(percent) / 1'000) / 1e3);
    }
    return fmt::format("{} s; cancelled {}, too late for {}", text, cancelled_.load(),
                       late_.load());
  }

 private:
  void claim() {
    ClaimOptions options;
    options.max = 4'096;
    options.wait = Millis(100);
    base::Histogram lateness;
    while (claimed_.load() + cancelled_.load() < count_) {
      const auto taken = must(queue_.claim(options), "claim");
      lateness.record(std::max<std::int64_t>(wall_us() - due_us_, 0), taken.size());
      claimed_.fetch_add(taken.size());
    }
    const std::scoped_lock lock(mutex_);
    lateness_.merge(lateness);
  }
  void cancel() {
    while (wall_us() < due_us_) std::this_thread::sleep_for(Millis(1));
    std::array<std::string, 256> names;
    std::vector<std::string_view> keys;
    // Cancels from the last message to be claimed backwards. If it began with the first, the claims
    // would always be faster.
    for (std::uint64_t left = (count_ + kCancelEvery - 1) / kCancelEvery; left > 0;) {
      keys.clear();
      for (; left > 0 && keys.size() < names.size(); --left) {
        names[keys.size()] = key_of((left - 1) * kCancelEvery);
        keys.push_back(names[keys.size()]);
      }
      for (const auto& answer : must(queue_.cancel(keys), "cancel")) {
        const Outcome outcome = must(answer, "cancel").outcome;
        must(outcome == Outcome::cancelled || outcome == Outcome::stopping, "it is there");
        (outcome == Outcome::cancelled ? cancelled_ : late_).fetch_add(1);
      }
    }
  }

  Queue queue_;
  std::uint64_t count_;
  std::int64_t due_us_;
  std::atomic<std::uint64_t> claimed_{0};
  std::atomic<std::uint64_t> cancelled_{0};
  std::atomic<std::uint64_t> late_{0};
  std::mutex mutex_;
  base::Histogram lateness_;  // microseconds
};

double seconds_of_spike(Run& run, bool cancels) {
  const std::uint64_t count = run.scaled(1'000'000);
  const Scratch scratch(run.directory());
  Store store = must(open("file:" + scratch.path()), "open");
  const Queue queue = store.queue("bench");
  // So late that all messages are pushed before it.
  const std::int64_t due_ms = now_ms() + static_cast<std::int64_t>(count / 100'000 + 2) * 1'000;
  fill(queue, count, due_ms);
  must(now_ms() < due_ms, "all are pushed before they are due");
  Spike spike(queue, count, due_ms);
  spike.run(cancels);
  run.note(spike.told());
  return spike.seconds();
}

}  // namespace

void measure_spike(Run& run) {
  std::vector<double> plain;
  std::vector<double> cancelled;
  for (int round = 0; round < run.rounds(); ++round) {
    plain.push_back(seconds_of_spike(run, false));
    cancelled.push_back(seconds_of_spike(run, true));
  }
  run.add(kPlain, median_of(plain));
  run.add(kCancelled, median_of(cancelled));
}

}  // namespace tarry::bench
