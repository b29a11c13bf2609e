// F12: lifecycles in Redis, compared with the real Redisson's on the same Redis, while many
// messages are pending that were not pushed in the order of their due times.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "designs/piped_tarry.h"
#include "designs/redisson_process.h"
#include "figures/figures.h"
#include "figures/payloads.h"
#include "figures/piped_lifecycle.h"
#include "harness/must.h"
#include "harness/redis_host.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kF12{
    "F12",   "lifecycles in Redis, 100k pending in random order, against the real Redisson's",
    "ratio", Better::higher,
    30,      100};

constexpr double kLongestRedissonS = 240;

// The messages of one side. `standing` stay pending all the time. `due` others, anywhere among
// them, are due when the measurement starts; during it, as many are pushed as are claimed.
class PendingMessages {
 public:
  PendingMessages(std::uint64_t standing, std::uint64_t due) : is_due_(standing + due), due_(due) {
    std::fill_n(is_due_.begin(), due, 1);
    std::ranges::shuffle(is_due_, random_);
  }

  [[nodiscard]] std::uint64_t due() const { return due_; }
  [[nodiscard]] std::uint64_t all() const { return is_due_.size(); }
  /// The message that is pushed as the `number`th, before the measurement. Messages fall due
  /// at `due_ms` or up to 10 ms later.
  [[nodiscard]] Message waiting(std::uint64_t number, std::int64_t due_ms) {
    if (is_due_[number] == 0) return later();
    const std::string_view payload = payloads_(random_());
    due_proof_ += proof_of(payload);
    return {payload, due_ms + static_cast<std::int64_t>(random_() % 11)};
  }
  /// A message that does not fall due.
  [[nodiscard]] Message later() {
    const auto delay = static_cast<std::int64_t>(random_() % std::uint64_t{kMonthMs});
    return {payloads_(random_()), begin_ + kHourMs + delay};
  }
  /// The proof of all messages that fall due.
  [[nodiscard]] std::uint64_t due_proof() const { return due_proof_; }

 private:
  const Payloads payloads_{100, Payloads::Of::letters};  // the pipes to Java carry lines
  const std::int64_t begin_ = now_ms();
  std::mt19937_64 random_{4};
  std::vector<char> is_due_;
  const std::uint64_t due_;
  std::uint64_t due_proof_ = 0;
};

double rate_of_tarry(const RedisHost& host, PendingMessages& messages) {
  const auto design = make_piped_tarry_at("redis://127.0.0.1:" + std::to_string(host.port()));
  PipedLifecycle filling;
  filling.pushes = messages.all();
  filling.message = [&, past = now_ms() - 1'000](std::uint64_t number) {
    return messages.waiting(number, past);
  };
  (void)run_piped(*design, filling);

  PipedLifecycle living;
  living.pushes = messages.due();
  living.claims = messages.due();
  living.message = [&](std::uint64_t /*number*/) { return messages.later(); };
  const PipedTimes times = run_piped(*design, living);
  must(times.claimed_proof == messages.due_proof(), "what was due comes back as it went");
  return static_cast<double>(messages.due()) / times.seconds;
}

// Pushes that many messages, in batches of 100.
template <typename MessageOf>
void push_each(RedissonProcess& redisson, std::uint64_t count, const MessageOf& message_of) {
  std::vector<Message> batch;
  for (std::uint64_t number = 0; number < count; ++number) {
    batch.push_back(message_of(number));
    if (batch.size() < 100 && number + 1 < count) continue;
    redisson.push(batch);
    batch.clear();
  }
}

// A producer and a consumer, as in production: each is a process with a Redisson client, and both
// clients transfer what is due. The consumer pops all that is there at once. The producer pushes as
// many messages as were popped meanwhile. So neither ever waits for the other, and the transfers
// are what takes the time.
double rate_of_redisson(const RedisHost& host, PendingMessages& messages) {
  RedissonProcess producer(host.port());
  RedissonProcess consumer(host.port());
  // Redisson would transfer what is due at once: so nothing is due until all are pushed.
  const std::int64_t due_ms = now_ms() + 5'000 + static_cast<std::int64_t>(messages.all() / 3);
  push_each(producer, messages.all(),
            [&](std::uint64_t number) { return messages.waiting(number, due_ms); });
  const std::int64_t early_ms = due_ms - now_ms();
  must(early_ms > 0, "all are pushed before the first is due");
  std::this_thread::sleep_for(std::chrono::milliseconds(early_ms));

  const Stopwatch watch;
  std::atomic<std::uint64_t> popped{0};
  std::uint64_t proof = 0;
  std::thread popping([&] {
    while (popped < messages.due()) {
      must(watch.seconds() < kLongestRedissonS, "Redisson hands over what is due");
      const auto values = consumer.pop(1'000, 1'000);
      for (const std::string& value : values) proof += proof_of(value);
      popped += values.size();
    }
  });
  for (std::uint64_t pushed = 0; pushed < messages.due();) {
    const std::uint64_t count = popped - pushed;
    push_each(producer, count, [&](std::uint64_t) { return messages.later(); });
    pushed += count;
    if (count == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  popping.join();
  const double seconds = watch.seconds();
  must(popped == messages.due() && proof == messages.due_proof(),
       "what was due comes back as it went");
  return static_cast<double>(messages.due()) / seconds;
}

}  // namespace

void measure_against_redisson(Run& run) {
  if (const std::string reason = RedissonProcess::missing(); !reason.empty()) {
    run.note("F12 is left out: " + reason);
    return;
  }
  const std::uint64_t standing = run.scaled(100'000);
  std::vector<double> ratios;
  for (int round = 0; round < run.rounds(); ++round) {
    const RedisHost host;
    PendingMessages ours(standing, run.scaled(100'000));
    const double tarry = rate_of_tarry(host, ours);
    host.clear();
    PendingMessages theirs(standing, run.scaled(5'000));
    const double redisson = rate_of_redisson(host, theirs);
    run.note(fmt::format("tarry {}k/s, Redisson {}/s", short_number(tarry / 1e3),
                         short_number(redisson)));
    ratios.push_back(tarry / redisson);
  }
  run.add(kF12, median_of(ratios));
}

}  // namespace tarry::bench
