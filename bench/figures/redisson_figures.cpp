// F12: lifecycles in Redis, compared with Redisson's scripts, while many messages are pending that
// were not pushed in the order of their due times.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "designs/piped_tarry.h"
#include "designs/redisson_queue.h"
#include "figures/figures.h"
#include "figures/payloads.h"
#include "figures/piped_lifecycle.h"
#include "harness/must.h"
#include "harness/redis_host.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kF12{
    "F12",   "lifecycles in Redis, 100k pending in random order, against Redisson's",
    "ratio", Better::higher,
    30,      100};

// `standing` messages stay pending all the time. Others, anywhere among them, are due when the
// measurement starts; during it, as many messages are pushed as are claimed.
struct Pending {
  std::uint64_t standing;
  std::uint64_t due;
};

double rate_among(Piped& design, const Pending& pending) {
  const Payloads payloads(100);
  std::mt19937_64 random(4);
  std::vector<char> is_due(pending.standing + pending.due);
  std::fill_n(is_due.begin(), pending.due, 1);
  std::ranges::shuffle(is_due, random);
  const std::int64_t begin = now_ms();
  const auto later = [&] {
    return begin + kHourMs + static_cast<std::int64_t>(random() % std::uint64_t{kMonthMs});
  };
  std::uint64_t due_proof = 0;

  PipedLifecycle filling;
  filling.pushes = is_due.size();
  filling.message = [&](std::uint64_t number) {
    Message message;
    message.payload = payloads(random());
    message.due_ms = later();
    if (is_due[number] != 0) {
      message.due_ms = begin - 1 - static_cast<std::int64_t>(random() % 10'000);
      due_proof += proof_of(message.payload);
    }
    return message;
  };
  (void)run_piped(design, filling);

  PipedLifecycle living;
  living.pushes = pending.due;
  living.claims = pending.due;
  living.message = [&](std::uint64_t /*number*/) {
    Message message;
    message.payload = payloads(random());
    message.due_ms = later();
    return message;
  };
  const PipedTimes times = run_piped(design, living);
  must(times.claimed_proof == due_proof, "what was due comes back as it went");
  return static_cast<double>(pending.due) / times.seconds;
}

}  // namespace

void measure_against_redisson(Run& run) {
  const std::uint64_t standing = run.scaled(100'000);
  std::vector<double> ratios;
  for (int round = 0; round < run.rounds(); ++round) {
    const RedisHost our_host;
    const RedisHost their_host;
    const double ours =
        rate_among(*make_piped_tarry(our_host.socket_path()), {standing, run.scaled(100'000)});
    const double theirs =
        rate_among(*make_redisson_queue(their_host.socket_path()), {standing, run.scaled(2'000)});
    run.note(fmt::format("tarry {}k/s, Redisson's scripts {}k/s", short_number(ours / 1e3),
                         short_number(theirs / 1e3)));
    ratios.push_back(ours / theirs);
  }
  run.add(kF12, median_of(ratios));
}

}  // namespace tarry::bench
