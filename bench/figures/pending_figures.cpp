// F5: the cost of a push and a claim with ten million messages pending, compared with ten thousand.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "figures/figures.h"
#include "figures/standing.h"

namespace tarry::bench {
namespace {

constexpr Figure kF5{"F5",    "cost of push, claim with 10M pending against 10k (the worse)",
                     "ratio", Better::lower,
                     1.5,     1.2};

double median(std::vector<double> values) { return median_of(std::move(values)).value; }

}  // namespace

void measure_pending(Run& run) {
  Standing few(run.directory(), 10'000);
  Standing many(run.directory(), run.scaled(10'000'000));
  constexpr int kSteps = 20;
  std::vector<double> ratios;
  for (int round = 0; round < run.rounds(); ++round) {
    std::vector<double> push[2];
    std::vector<double> claim[2];
    for (int step = 0; step < kSteps; ++step) {
      const Standing::Cost of_few = few.step();
      const Standing::Cost of_many = many.step();
      push[0].push_back(of_few.push_ns);
      push[1].push_back(of_many.push_ns);
      claim[0].push_back(of_few.claim_ns);
      claim[1].push_back(of_many.claim_ns);
    }
    run.note(fmt::format("push {} ns, {} ns with many pending; claim {} ns, {} ns",
                         short_number(median(push[0])), short_number(median(push[1])),
                         short_number(median(claim[0])), short_number(median(claim[1]))));
    ratios.push_back(
        std::max(median(push[1]) / median(push[0]), median(claim[1]) / median(claim[0])));
  }
  run.add(kF5, median_of(ratios));
}

}  // namespace tarry::bench
