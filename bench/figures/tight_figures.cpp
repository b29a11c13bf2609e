// F17: a store four times as large as the RAM of its process: how fast due messages are claimed,
// and how late messages are at 2,000 a second. The rate is measured twice. First, all messages have
// the same delay, give or take some minutes, like timeouts and trials. Second, due times are drawn
// from a month, so that each message is at another place on the disk; lateness is measured in this
// case.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tarry/store.h>

#include "base/histogram.h"
#include "designs/tarry_queue.h"
#include "figures/figures.h"
#include "figures/lifecycle.h"
#include "figures/payloads.h"
#include "figures/random_reads.h"
#include "harness/child.h"
#include "harness/memory_limit.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kRate{"F17",   "live data 4x the RAM: claims of what is due, against F1's rate",
                       "ratio", Better::higher,
                       0.4,     0.6};
constexpr Figure kRandom{
    "F17r",  "due times drawn at random: claims against the disk's random reads",
    "ratio", Better::higher,
    0.5,     0.9};
constexpr Figure kLate{
    "F17p", "drawn at random: lateness p99 at 2k messages/s", "ms", Better::lower, 50, 10};

constexpr std::size_t kPayload = 1'000;
constexpr std::uint64_t kBytesOfOne = 1'096;  // including its record
constexpr std::uint64_t kLeastRam = 48ull << 20;
constexpr std::size_t kBatch = 256;
constexpr std::size_t kClients = 4;

struct Shape {
  std::uint64_t messages = 0;
  std::uint64_t ram = 0;
};

/// The due time of the message that is pushed as the `number`th.
using DueOf = std::function<std::int64_t(std::uint64_t number, std::mt19937_64&)>;

void fill(const Queue& queue, std::uint64_t count, const DueOf& due_of) {
  const Payloads payloads(kPayload);
  std::mt19937_64 random(1);
  std::vector<Push> batch;
  for (std::uint64_t done = 0; done < count; done += batch.size()) {
    batch.assign(std::min<std::uint64_t>(count - done, 1'024), Push());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].payload = payloads(random());
      batch[i].due = Due::at(Time(Millis(due_of(done + i, random))));
    }
    must(queue.push(batch), "push");
  }
}

std::vector<Settle> acks(const std::vector<Delivery>& claimed) {
  std::vector<Settle> settles(claimed.size());
  for (std::size_t i = 0; i < claimed.size(); ++i) settles[i].receipt = claimed[i].receipt();
  return settles;
}

/// Claims and settles all due messages. Returns messages per second.
double rate_of(const Queue& queue, std::uint64_t count) {
  std::atomic<std::uint64_t> settled{0};
  std::vector<std::thread> clients;
  const Stopwatch watch;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      ClaimOptions options;
      options.max = kBatch;
      while (settled.load() < count) {
        const auto claimed = must(queue.claim(options), "claim");
        if (claimed.empty()) continue;
        must(queue.settle(acks(claimed)), "settle");
        settled.fetch_add(claimed.size());
      }
    });
  }
  for (std::thread& client : clients) client.join();
  return static_cast<double>(count) / watch.seconds();
}

void measure_rate(const std::string& path, const Shape& shape, const DueOf& delay, Wire& wire) {
  ManualClock clock;
  OpenOptions options;
  options.clock = clock;
  Store store = must(open("file:" + path, std::move(options)), "open");
  const Queue queue = store.queue("bench");
  const std::int64_t now = clock.now().time_since_epoch().count();
  fill(queue, shape.messages, [&](std::uint64_t number, std::mt19937_64& random) {
    return now + 1 + delay(number, random);
  });
  clock.advance(Millis(2 * kMonthMs));
  wire.tell(rate_of(queue, shape.messages));
  store.close();
}

// The delay of each message is a month, give or take up to ten minutes; they are pushed over
// another month.
void measure_ordered(const std::string& path, const Shape& shape, Wire& wire) {
  const auto apart = static_cast<double>(kMonthMs) / static_cast<double>(shape.messages);
  measure_rate(
      path, shape,
      [apart](std::uint64_t number, std::mt19937_64& random) {
        return static_cast<std::int64_t>(static_cast<double>(number) * apart) +
               static_cast<std::int64_t>(random() % 600'000);
      },
      wire);
}

void measure_random(const std::string& path, const Shape& shape, Wire& wire) {
  measure_rate(
      path, shape,
      [](std::uint64_t, std::mt19937_64& random) {
        return static_cast<std::int64_t>(random() % std::uint64_t{kMonthMs});
      },
      wire);
}

constexpr std::uint64_t kPerSecond = 2'000;
constexpr std::uint64_t kSeconds = 10;

void measure_lateness_of_few(const std::string& path, const Shape& shape, Wire& wire) {
  Store store = must(open("file:" + path), "open");
  const Queue queue = store.queue("bench");
  // All messages fall due after the store is filled; otherwise their lateness would mean nothing.
  const std::int64_t begin = now_ms() + 5'000 + static_cast<std::int64_t>(shape.messages / 20);
  const std::uint64_t wanted = std::min(kPerSecond * kSeconds, shape.messages / 2);
  std::uint64_t left = shape.messages;
  std::uint64_t due = 0;
  fill(queue, shape.messages, [&](std::uint64_t, std::mt19937_64& random) {
    const bool soon = random() % left-- < wanted - due;
    if (!soon) return begin + kHourMs;
    ++due;
    return begin + static_cast<std::int64_t>(random() % (1'000 * wanted / kPerSecond));
  });
  must(now_ms() < begin, "all are pushed before the first is due");
  base::Histogram lateness;
  ClaimOptions options;
  options.max = 1'000;
  options.wait = Millis(1'000);
  const Stopwatch watch;
  for (std::uint64_t claimed = 0; claimed < due;) {
    must(watch.seconds() < 600, "what is due is delivered within ten minutes");
    const auto batch = must(queue.claim(options), "claim");
    const std::int64_t now = wall_us();
    for (const Delivery& delivery : batch) {
      lateness.record(now - delivery.due().time_since_epoch().count() * 1'000);
    }
    if (!batch.empty()) must(queue.settle(acks(batch)), "settle");
    claimed += batch.size();
  }
  wire.tell(static_cast<double>(lateness.percentile(50)) / 1e3);
  wire.tell(static_cast<double>(lateness.percentile(99)) / 1e3);
  store.close();
}

using Measure = void (*)(const std::string& path, const Shape& shape, Wire& wire);

/// Runs `measure` with no more RAM than the shape says. Returns the `numbers` values that it
/// reports.
std::vector<double> in_little_ram(const Run& run, const Shape& shape, Measure measure,
                                  std::size_t numbers) {
  const auto limit = must(MemoryLimit::make(shape.ram), "a limit to RAM");
  const Scratch scratch(run.directory());
  Child child([&](Wire& wire) {
    limit->join();
    measure(scratch.path(), shape, wire);
  });
  std::vector<double> told;
  for (std::size_t i = 0; i < numbers; ++i) told.push_back(child.hear());
  child.join();
  return told;
}

double lifecycles(const Run& run) {
  const Scratch scratch(run.directory());
  Lifecycle shape;
  shape.messages = static_cast<std::size_t>(run.scaled(300'000));
  shape.clients = kClients;
  return lifecycles_per_second(*make_tarry_queue(scratch.path(), Sync::always), shape);
}

}  // namespace

void measure_with_little_ram(Run& run) {
  if (const auto possible = MemoryLimit::make(kLeastRam); !possible) {
    run.note("F17 is left out: " + possible.error().message);
    return;
  }
  Shape shape;
  shape.messages = run.scaled(400'000);
  shape.ram = std::max(shape.messages * kBytesOfOne / 4, kLeastRam);
  std::vector<double> ordered;
  std::vector<double> random;
  std::vector<double> lateness;
  for (int round = 0; round < run.rounds(); ++round) {
    const double usual = lifecycles(run);
    const double reads = random_reads_per_second(run.directory(), shape.messages * kBytesOfOne);
    const double in_order = in_little_ram(run, shape, measure_ordered, 1).front();
    const double at_random = in_little_ram(run, shape, measure_random, 1).front();
    const auto late = in_little_ram(run, shape, measure_lateness_of_few, 2);
    run.note(fmt::format(
        "{} MB live, {} MB of RAM: {}k claims/s, F1's {}k/s; at random {}k, reads {}k; p50 {} ms",
        shape.messages * kBytesOfOne >> 20, shape.ram >> 20, short_number(in_order / 1e3),
        short_number(usual / 1e3), short_number(at_random / 1e3), short_number(reads / 1e3),
        short_number(late[0])));
    ordered.push_back(in_order / usual);
    random.push_back(at_random / reads);
    lateness.push_back(late[1]);
  }
  run.add(kRate, median_of(ordered));
  run.add(kRandom, median_of(random));
  run.add(kLate, median_of(lateness));
}

}  // namespace tarry::bench
