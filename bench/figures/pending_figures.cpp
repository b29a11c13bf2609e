// F5: what a push and a claim cost with ten million messages pending, against ten thousand. Time is
// moved by hand: in each step some messages fall due from all over the store, are claimed and
// settled, and as many are pushed, due anywhere within a month.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <tarry/store.h>

#include "figures/figures.h"
#include "figures/payloads.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kF5{"F5",    "cost of push, claim with 10M pending against 10k (the worse)",
                     "ratio", Better::lower,
                     1.5,     1.2};
constexpr std::size_t kBatch = 256;
constexpr std::size_t kStep = 4096;  // messages pushed, and about as many due, in a step

class Standing {
 public:
  Standing(const Run& run, std::uint64_t pending) : scratch_(run.directory()), pending_(pending) {
    OpenOptions options;
    options.clock = clock_;
    store_ = std::make_unique<Store>(
        must(open("file:" + scratch_.path() + "?sync=os", std::move(options)), "open"));
    queue_ = std::make_unique<Queue>(store_->queue("bench"));
    for (std::uint64_t left = pending; left > 0;) {
      const auto count = std::min<std::uint64_t>(left, 4096);
      push(count);
      left -= count;
    }
  }

  struct Cost {
    double push_ns = 0;
    double claim_ns = 0;
  };

  Cost step() {
    const Stopwatch pushing;
    for (std::size_t i = 0; i < kStep; i += kBatch) push(kBatch);
    const double pushed = pushing.seconds();
    const Stopwatch claiming;
    clock_.advance(Millis(static_cast<std::int64_t>(static_cast<double>(kMonthMs) * kStep /
                                                    static_cast<double>(pending_))));
    std::vector<std::vector<Delivery>> claimed;
    std::size_t count = 0;
    ClaimOptions options;
    options.max = kBatch;
    do {
      claimed.push_back(must(queue_->claim(options), "claim"));
      count += claimed.back().size();
    } while (!claimed.back().empty());
    const double taken = claiming.seconds();
    must(count > 0, "something is due");
    for (const auto& batch : claimed) settle(batch);
    return {pushed * 1e9 / kStep, taken * 1e9 / static_cast<double>(count)};
  }

 private:
  void push(std::size_t count) {
    std::vector<Push> batch(count);
    const std::int64_t now = clock_.now().time_since_epoch().count();
    for (Push& push : batch) {
      push.payload = payloads_(random_());
      push.due = Due::at(Time(Millis(
          now + 1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(kMonthMs)))));
    }
    must(queue_->push(batch), "push");
  }

  void settle(const std::vector<Delivery>& batch) {
    std::vector<Settle> settles;
    for (const Delivery& delivery : batch) settles.emplace_back().receipt = delivery.receipt();
    if (!settles.empty()) must(queue_->settle(settles), "settle");
  }

  Scratch scratch_;
  std::uint64_t pending_;
  ManualClock clock_;
  Payloads payloads_{100};
  std::mt19937_64 random_{1};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Queue> queue_;
};

double median(std::vector<double> values) { return median_of(std::move(values)).value; }

}  // namespace

void measure_pending(Run& run) {
  Standing few(run, 10'000);
  Standing many(run, run.scaled(10'000'000));
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
