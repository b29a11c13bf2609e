#include "figures/standing.h"

#include <algorithm>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {
constexpr std::size_t kStandingBatch = 256;
constexpr std::size_t kStep = 4096;  // messages that a step pushes; about as many fall due in it
}  // namespace

Standing::Standing(const std::string& directory, std::uint64_t pending)
    : scratch_(directory), pending_(pending) {
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

Standing::Cost Standing::step() {
  const Stopwatch pushing;
  for (std::size_t i = 0; i < kStep; i += kStandingBatch) push(kStandingBatch);
  const double pushed = pushing.seconds();
  const Stopwatch claiming;
  clock_.advance(Millis(static_cast<std::int64_t>(static_cast<double>(kMonthMs) * kStep /
                                                  static_cast<double>(pending_))));
  std::vector<std::vector<Delivery>> claimed;
  std::size_t count = 0;
  ClaimOptions options;
  options.max = kStandingBatch;
  do {
    claimed.push_back(must(queue_->claim(options), "claim"));
    count += claimed.back().size();
  } while (!claimed.back().empty());
  const double taken = claiming.seconds();
  must(count > 0, "something is due");
  for (const auto& batch : claimed) settle(batch);
  return {pushed * 1e9 / kStep, taken * 1e9 / static_cast<double>(count)};
}

void Standing::push(std::size_t count) {
  std::vector<Push> batch(count);
  const std::int64_t now = clock_.now().time_since_epoch().count();
  for (Push& push : batch) {
    push.payload = payloads_(random_());
    push.due = Due::at(Time(Millis(
        now + 1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(kMonthMs)))));
  }
  must(queue_->push(batch), "push");
}

void Standing::settle(const std::vector<Delivery>& batch) {
  std::vector<Settle> settles;
  for (const Delivery& delivery : batch) settles.emplace_back().receipt = delivery.receipt();
  if (!settles.empty()) must(queue_->settle(settles), "settle");
}

}  // namespace tarry::bench
