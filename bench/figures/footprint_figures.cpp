// F6: the RAM of a pending message. F8: how fast a store with ten million messages opens, after
// SIGKILL and after a clean stop. A process of its own fills the store, so that its memory can be
// measured alone.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <tarry/store.h>

#include "figures/figures.h"
#include "figures/payloads.h"
#include "harness/child.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kWithout{
    "F6", "RAM a pending message without a user's key", "B", Better::lower, 52, 44};
constexpr Figure kWith{"F6k", "RAM a pending message with one", "B", Better::lower, 66, 56};
constexpr Figure kKilled{"F8", "opening with 10M pending after SIGKILL", "M/s", Better::higher, 4,
                         8};
constexpr Figure kStopped{"F8c", "the same after a clean stop", "M/s", Better::higher, 5, 12};

std::string url(const Scratch& scratch) { return "file:" + scratch.path() + "?sync=os"; }

void fill(Queue& queue, std::uint64_t count, bool keys) {
  const Payloads payloads(100);
  std::mt19937_64 random(1);
  const std::int64_t from = now_ms() + kHourMs;
  std::vector<std::string> names;
  std::vector<Push> batch;
  for (std::uint64_t done = 0; done < count; done += batch.size()) {
    batch.assign(std::min<std::uint64_t>(count - done, 4096), Push());
    names.assign(keys ? batch.size() : 0, {});
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].payload = payloads(random());
      batch[i].due = Due::at(
          Time(Millis(from + static_cast<std::int64_t>(random() % std::uint64_t{kMonthMs}))));
      if (!keys) continue;
      names[i] = fmt::format("order:{:010}", done + i);
      batch[i].key = names[i];
    }
    must(queue.push(batch), "push");
  }
}

enum class End { killed, stopped };

void end(Child& child, End how) {
  if (how == End::killed) return child.kill();
  child.tell(0);
  child.join();
}

double seconds_to_open(const Scratch& scratch, std::uint64_t count, End how) {
  Child child([&](Wire& wire) {
    const Stopwatch watch;
    auto store = must(open(url(scratch)), "open");
    const auto stats = must(store.queue("bench").stats(), "stats");
    const double seconds = watch.seconds();
    must(stats.scheduled == count, "all messages are there");
    wire.tell(seconds);
    (void)wire.hear();
    store.close();
  });
  const double seconds = child.hear();
  end(child, how);
  return seconds;
}

/// Fills a store. Returns the bytes of RAM per message.
double filled(const Scratch& scratch, std::uint64_t count, bool keys, End how) {
  Child child([&](Wire& wire) {
    const double before = anonymous_bytes();
    auto store = must(open(url(scratch)), "open");
    Queue queue = store.queue("bench");
    fill(queue, count, keys);
    wire.tell((anonymous_bytes() - before) / static_cast<double>(count));
    (void)wire.hear();
    store.close();
  });
  const double bytes = child.hear();
  end(child, how);
  return bytes;
}

}  // namespace

void measure_footprint(Run& run) {
  const std::uint64_t count = run.scaled(10'000'000);
  const auto millions = static_cast<double>(count) / 1e6;
  std::vector<double> ram;
  std::vector<double> ram_keys;
  std::vector<double> killed;
  std::vector<double> stopped;
  {
    const Scratch scratch(run.directory());
    ram.push_back(filled(scratch, count, false, End::killed));
    for (int round = 0; round < run.rounds(); ++round) {
      killed.push_back(millions / seconds_to_open(scratch, count, End::killed));
    }
    run.note(fmt::format("{} B of disk a message", scratch.disk_bytes() / count));
  }
  {
    const Scratch scratch(run.directory());
    ram.push_back(filled(scratch, count, false, End::stopped));
    for (int round = 0; round < run.rounds(); ++round) {
      stopped.push_back(millions / seconds_to_open(scratch, count, End::stopped));
    }
  }
  {
    const Scratch scratch(run.directory());
    ram_keys.push_back(filled(scratch, count, true, End::killed));
    run.note(fmt::format("with keys: opened after SIGKILL at {} M/s",
                         short_number(millions / seconds_to_open(scratch, count, End::killed))));
  }
  run.add(kWithout, median_of(ram));
  run.add(kWith, median_of(ram_keys));
  run.add(kKilled, median_of(killed));
  run.add(kStopped, median_of(stopped));
}

}  // namespace tarry::bench
