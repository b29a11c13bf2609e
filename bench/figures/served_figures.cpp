// F22 to F25: tarry serve with one message at a time, against beanstalkd and NATS, and against the
// same store inside the program. The servers are processes of their own, so that what they take is
// theirs alone.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include <tarry/store.h>

#include "designs/tarry_queue.h"
#include "figures/figures.h"
#include "figures/lifecycle.h"
#include "figures/one_at_a_time.h"
#include "harness/beanstalk_host.h"
#include "harness/must.h"
#include "harness/nats_host.h"
#include "harness/scratch.h"
#include "harness/tarry_host.h"

namespace tarry::bench {
namespace {

constexpr Figure kF22{"F22",
                      "server's processor time a life, one at a time, sync=100ms, against "
                      "beanstalkd -f 50",
                      "ratio",
                      Better::lower,
                      2,
                      1.2};
constexpr Figure kF23{"F23", "the same against NATS scheduled messages", "ratio", Better::lower, 1,
                      0.5};
constexpr Figure kF24{
    "F24", "the same, sync=always, against beanstalkd -f 0", "ratio", Better::lower, 0.8, 0.4};
constexpr Figure kF24r{"F24r", "lives a second beside it", "ratio", Better::higher, 2, 4};
constexpr Figure kF25{"F25",   "over HTTP against embedded, sync=always, batches of 1",
                      "ratio", Better::higher,
                      0.8,     0.95};
constexpr Figure kF25b{"F25b", "the same, batches of 100", "ratio", Better::higher, 0.6, 0.8};

struct Cost {
  double rate = 0;    // lives a second
  double cpu_us = 0;  // of the server, a life
  double switches = 0;
};

template <typename Host>
Cost live(const Host& host, Spoken spoken, const OneAtATime& shape) {
  const ProcessEffort before = effort_of(host.pid());
  Cost cost;
  cost.rate = live_one_at_a_time(spoken, host.port(), shape);
  const ProcessEffort spent = effort_of(host.pid()) - before;
  const auto lives = static_cast<double>(shape.lives);
  cost.cpu_us = 1e6 * spent.cpu_seconds / lives;
  cost.switches = spent.switches / lives;
  return cost;
}

struct Against {
  std::vector<double> cpu;
  std::vector<double> rate;
};

Against against_beanstalkd(Run& run, const std::string& sync, int beanstalkd_sync_ms,
                           const OneAtATime& shape) {
  const TarryHost tarry(run.directory(), {.store = "file:?sync=" + sync});
  const BeanstalkHost beanstalkd(run.directory(), beanstalkd_sync_ms);
  Against against;
  const auto both = [&](const OneAtATime& lives) {
    const Cost ours = live(tarry, Spoken::http, lives);
    const Cost theirs = live(beanstalkd, Spoken::beanstalk, lives);
    return std::pair(ours, theirs);
  };
  (void)both({.lives = shape.connections * 10});
  for (int round = 0; round < run.rounds(); ++round) {
    const auto [ours, theirs] = both(shape);
    run.note(fmt::format(
        "tarry sync={}: {}k/s, {} us, {} switches; beanstalkd -f {}: {}k/s, {} us, {}", sync,
        short_number(ours.rate / 1e3), short_number(ours.cpu_us), short_number(ours.switches),
        beanstalkd_sync_ms, short_number(theirs.rate / 1e3), short_number(theirs.cpu_us),
        short_number(theirs.switches)));
    against.cpu.push_back(ours.cpu_us / theirs.cpu_us);
    against.rate.push_back(ours.rate / theirs.rate);
  }
  return against;
}

}  // namespace

void measure_against_beanstalkd(Run& run) {
  if (!BeanstalkHost::is_installed()) {
    run.note("F22 and F24 are left out: beanstalkd is not installed");
    return;
  }
  const OneAtATime quick{.lives = run.scaled(30'000)};
  const OneAtATime synced{.lives = run.scaled(10'000)};
  run.add(kF22, median_of(against_beanstalkd(run, "100ms", 50, quick).cpu));
  const Against always = against_beanstalkd(run, "always", 0, synced);
  run.add(kF24, median_of(always.cpu));
  run.add(kF24r, median_of(always.rate));
}

void measure_against_nats(Run& run) {
  if (!NatsHost::is_there()) {
    run.note("F23 is left out: there is no nats-server");
    return;
  }
  const TarryHost tarry(run.directory(), {.store = "file:?sync=100ms"});
  const NatsHost nats(run.directory(), "100ms");
  const OneAtATime shape{.lives = run.scaled(20'000)};
  // NATS delivers what is due each 250 ms. So that no claim has to wait for that, messages stand in
  // both servers during the whole run.
  const OneAtATime standing{.lives = run.scaled(5'000), .push_only = true};
  (void)live(tarry, Spoken::http, standing);
  (void)live(nats, Spoken::nats, standing);
  std::vector<double> ratios;
  for (int round = 0; round < run.rounds(); ++round) {
    const Cost ours = live(tarry, Spoken::http, shape);
    const Cost theirs = live(nats, Spoken::nats, shape);
    run.note(fmt::format("tarry sync=100ms: {}k/s, {} us, {} switches; NATS: {}k/s, {} us, {}",
                         short_number(ours.rate / 1e3), short_number(ours.cpu_us),
                         short_number(ours.switches), short_number(theirs.rate / 1e3),
                         short_number(theirs.cpu_us), short_number(theirs.switches)));
    ratios.push_back(ours.cpu_us / theirs.cpu_us);
  }
  run.add(kF23, median_of(ratios));
}

void measure_over_http(Run& run) {
  const TarryHost host(run.directory(), {.store = "file:?sync=always"});
  const Scratch scratch(run.directory());
  const auto embedded = make_tarry_queue(
      must(open("file:" + scratch.path() + "/store?sync=always"), "the store opens"));
  const auto remote = make_tarry_queue(
      must(open("http://127.0.0.1:" + std::to_string(host.port())), "its client opens"));
  for (const auto& [figure, shape] :
       {std::pair(kF25, Lifecycle{.messages = run.scaled(3'000), .batch = 1, .delay_ms = 0}),
        std::pair(kF25b,
                  Lifecycle{.messages = run.scaled(100'000), .batch = 100, .delay_ms = 0})}) {
    std::vector<double> ratios;
    for (int round = 0; round < run.rounds(); ++round) {
      const double over_http = lifecycles_per_second(*remote, shape);
      const double inside = lifecycles_per_second(*embedded, shape);
      run.note(fmt::format("over HTTP {}k/s, embedded {}k/s, batches of {}",
                           short_number(over_http / 1e3), short_number(inside / 1e3), shape.batch));
      ratios.push_back(over_http / inside);
    }
    run.add(figure, median_of(ratios));
  }
}

}  // namespace tarry::bench
