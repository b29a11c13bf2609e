// F21: a store with 100,000 schedules. It measures the processor time of the whole process while no
// schedule is due. F21l measures how late their occurrences are, from the due time until a consumer
// has the message, beyond the lateness of plain messages at the same rate in the same store.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <tarry/store.h>

#include "base/histogram.h"
#include "figures/bare_syncs.h"
#include "figures/figures.h"
#include "figures/steady.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"
#include "schedule/calendar/recurrence.h"
#include "schedule/names.h"
#include "schedule/scheduler.h"
#include "schedule/schedules.h"
#include "schedule/turn.h"

namespace tarry::bench {
namespace {

constexpr Figure kF21{
    "F21", "100k schedules, none of which is due: processor", "%", Better::lower, 1, 0.1};
constexpr Figure kF21l{"F21l",
                       "100k schedules every 10m: lateness p99 of occurrences, beyond plain "
                       "messages'",
                       "ms",
                       Better::lower,
                       1,
                       0.2};
constexpr std::chrono::minutes kEvery{10};
constexpr std::chrono::seconds kSetUp{5};
constexpr std::uint64_t kSchedules = 99'999;  // and one that ticks
constexpr std::uint64_t kLeastRate = 100;
constexpr std::size_t kBatch = 5'000;

/// How long each part takes; shorter in a run with few messages.
std::int64_t seconds_of(const Run& run, std::int64_t whole) {
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(
      run.scaled(static_cast<std::uint64_t>(whole)), 1, static_cast<std::uint64_t>(whole)));
}

Time now() { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }

/// Pushes them in batches.
class Batch {
 public:
  explicit Batch(Queue queue) : queue_(std::move(queue)) {}

  void add(std::string key, std::string payload, Due due) {
    keys_.push_back(std::move(key));
    payloads_.push_back(std::move(payload));
    dues_.push_back(due);
    if (keys_.size() == kBatch) push();
  }
  void push() {
    std::vector<Push> pushes;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      pushes.push_back({.key = keys_[i], .payload = payloads_[i], .due = dues_[i]});
    }
    static_cast<void>(must(queue_.push(pushes), "push of schedules"));
    keys_.clear();
    payloads_.clear();
    dues_.clear();
  }

 private:
  Queue queue_;
  std::vector<std::string> keys_;
  std::vector<std::string> payloads_;
  std::vector<Due> dues_;
};

/// Writes the definitions and the next timers of schedules. With a jitter they are spread over it:
/// `before` is then how long before the next occurrence the last one was.
void add_schedules(const Store& store, std::uint64_t count, const schedule::RecurrenceSpec& spec,
                   Millis before) {
  const auto recurrence = must(schedule::Recurrence::make(spec), "recurrence");
  const Time next = *recurrence.next(now());
  const Time soonest = now() + kSetUp;
  Batch definitions(store.queue(schedule::kSchedulesQueue));
  Batch timers(store.queue(schedule::kTimersQueue));
  for (std::uint64_t i = 0; i < count; ++i) {
    schedule::Definition definition;
    definition.name = fmt::format("s{}", i);
    definition.recurrence = spec;
    definition.queue = "occurrences";
    definition.payload = "p";
    definitions.add(definition.name, schedule::encode(definition),
                    Due::after(std::chrono::days(36'000)));
    const bool is_past = recurrence.with_jitter(definition.name, next - before) < soonest;
    const Time nominal = is_past ? next : next - before;
    timers.add(schedule::occurrence_key(definition.name, nominal), "",
               Due::at(schedule::timer_due(recurrence, definition.name, nominal)));
  }
  definitions.push();
  timers.push();
}

/// Waits until the scheduler runs: one schedule of every second has its first occurrence.
void wait_until_running(const Store& store) {
  schedule::Definition tick;
  tick.name = "tick";
  tick.recurrence.when = "every 1s";
  tick.queue = "ticks";
  static_cast<void>(must(schedule::put(store, tick), "put"));
  const auto claimed = must(store.queue("ticks").claim({.wait = std::chrono::minutes(2)}), "claim");
  must(!claimed.empty(), "the schedules run");
  must(schedule::remove(store, tick.name), "remove");
  std::this_thread::sleep_for(std::chrono::seconds(1));
}

double idle_percent(const Run& run) {
  const Scratch scratch(run.directory());
  const Store store = must(open("file:" + scratch.path()), "open");
  add_schedules(store, run.scaled(kSchedules), {.when = "0 0 1 1 *"}, Millis(0));
  schedule::Scheduler scheduler(store, Log());
  scheduler.start();
  wait_until_running(store);
  const Stopwatch watch;
  const double before = own_cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(seconds_of(run, 5)));
  return (own_cpu_seconds() - before) / watch.seconds() * 100;
}

/// Microseconds, of the occurrences that fall due while the schedules run. The consumer is that of
/// the plain messages: it does not wait for its settlements.
base::Histogram lateness_of_occurrences(const Store& store, std::chrono::seconds running) {
  schedule::Scheduler scheduler(store, Log());
  scheduler.start();
  wait_until_running(store);
  base::Histogram us;
  std::atomic<std::uint64_t> settling{0};
  const Queue queue = store.queue("occurrences");
  const Time begun = now();
  while (now() - begun < running) {
    const auto claimed =
        must(queue.claim({.max = 1'000, .wait = std::chrono::seconds(1)}), "claim");
    const auto at = std::chrono::system_clock::now();
    std::vector<Settle> acks;
    for (const Delivery& each : claimed) {
      acks.push_back({.receipt = each.receipt()});
      if (each.due() < begun) continue;  // it was late before the measurement
      const auto late = std::chrono::duration_cast<std::chrono::microseconds>(at - each.due());
      us.record(std::max<std::int64_t>(late.count(), 0));
    }
    if (acks.empty()) continue;
    settling.fetch_add(1);
    queue.settle(acks, [&settling](Result<std::vector<Result<Answer>>> settled) {
      must(settled.has_value(), "ack");
      settling.fetch_sub(1);
    });
  }
  while (settling.load() != 0) std::this_thread::yield();
  return us;
}

}  // namespace

void measure_schedules(Run& run) {
  std::vector<double> idle;
  std::vector<double> beyond;
  for (int round = 0; round < run.rounds(); ++round) {
    idle.push_back(idle_percent(run));
    const Scratch scratch(run.directory());
    const Store store = must(open("file:" + scratch.path()), "open");
    const std::uint64_t count = run.scaled(kSchedules);
    add_schedules(store, count, {.when = "every 10m", .jitter = kEvery}, kEvery);
    const base::Histogram occurrences =
        lateness_of_occurrences(store, std::chrono::seconds(seconds_of(run, 15)));
    const std::uint64_t rate = std::max<std::uint64_t>(
        count / static_cast<std::uint64_t>(std::chrono::seconds(kEvery).count()), kLeastRate);
    const base::Histogram plain =
        lateness_of(store.queue("plain"), {.per_second = rate, .seconds = seconds_of(run, 5)});
    const base::Histogram syncs = bare_syncs(run.directory(), 1);
    run.note(fmt::format(
        "idle {:.3f}%; occurrences p50 {} us, p99 {} us; plain messages p50 {} us, "
        "p99 {} us; one fdatasync p50 {} us, p99 {} us",
        idle.back(), occurrences.percentile(50), occurrences.percentile(99), plain.percentile(50),
        plain.percentile(99), syncs.percentile(50), syncs.percentile(99)));
    beyond.push_back(static_cast<double>(occurrences.percentile(99) - plain.percentile(99)) / 1e3);
  }
  run.add(kF21, median_of(idle));
  run.add(kF21l, median_of(beyond));
}

}  // namespace tarry::bench
