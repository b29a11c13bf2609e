// F13 and F14: tarry serve with beanstalkd's protocol, against beanstalkd, 100 requests deep.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "figures/figures.h"
#include "figures/piped_jobs.h"
#include "harness/beanstalk_host.h"
#include "harness/tarry_host.h"

namespace tarry::bench {
namespace {

constexpr Figure kF13{"F13",
                      "beanstalk front, memory:, against beanstalkd without a log, 1 connection "
                      "100 deep",
                      "ratio",
                      Better::higher,
                      1,
                      2};
constexpr Figure kF14{"F14",
                      "beanstalk front, sync=always, against beanstalkd -f 0, 4 connections 100 "
                      "deep",
                      "ratio",
                      Better::higher,
                      10,
                      30};

Measured jobs_against_beanstalkd(Run& run, const std::string& store,
                                 std::optional<int> beanstalkd_sync_ms, const PipedJobs& ours,
                                 const PipedJobs& theirs) {
  const TarryHost tarry(run.directory(), {.store = store, .flags = {"--beanstalk", "127.0.0.1:0"}});
  const BeanstalkHost beanstalkd(run.directory(), beanstalkd_sync_ms);
  std::vector<double> ratios;
  for (int round = 0; round < run.rounds(); ++round) {
    const double we = live_piped_jobs(tarry.front_port(), ours);
    const double they = live_piped_jobs(beanstalkd.port(), theirs);
    run.note(fmt::format("tarry {}k/s, beanstalkd {}k/s", short_number(we / 1e3),
                         short_number(they / 1e3)));
    ratios.push_back(we / they);
  }
  return median_of(ratios);
}

}  // namespace

void measure_jobs(Run& run) {
  if (!BeanstalkHost::is_installed()) {
    run.note("F13 and F14 are left out: beanstalkd is not installed");
    return;
  }
  const PipedJobs one{.lives = run.scaled(300'000)};
  run.add(kF13, jobs_against_beanstalkd(run, "memory:", std::nullopt, one, one));
  const PipedJobs four{.lives = run.scaled(300'000), .connections = 4};
  const PipedJobs fewer{.lives = run.scaled(10'000), .connections = 4};
  run.add(kF14, jobs_against_beanstalkd(run, "file:?sync=always", 0, four, fewer));
}

}  // namespace tarry::bench
