#include "app/commands/program/load_generator.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/threads/thread.h"

namespace tarry::app {
namespace {

using Steady = std::chrono::steady_clock;
// Long enough that no lease runs out during a measurement.
constexpr Millis kLease = std::chrono::hours(1);
constexpr std::chrono::seconds kPatience(10);  // how long to wait for messages that do not come
constexpr const char* kStopped = "stopped before it was measured";
constexpr std::chrono::milliseconds kAhead(250);
constexpr std::chrono::milliseconds kTick(10);
// How long to wait, at the end of a run, for messages that are still due.
constexpr std::chrono::seconds kDrain(10);

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

template <typename T>
Result<void> each(Result<std::vector<Result<T>>> answers) {
  if (!answers) return std::move(answers).error();
  for (Result<T>& one : *answers) {
    if (!one) return std::move(one).error();
  }
  return {};
}

Result<void> push(const Queue& queue, const std::string& payload, std::size_t count,
                  const std::function<Due(std::size_t)>& due) {
  std::vector<Push> batch(count);
  for (std::size_t i = 0; i < count; ++i) {
    batch[i].payload = payload;
    batch[i].due = due(i);
  }
  return each(queue.push(batch));
}

Result<void> ack(const Queue& queue, const std::vector<Delivery>& deliveries) {
  std::vector<Settle> settles(deliveries.size());
  for (std::size_t i = 0; i < deliveries.size(); ++i) settles[i].receipt = deliveries[i].receipt();
  return each(queue.settle(settles));
}

}  // namespace

// Threads that do the same work until one of them fails. Keeps the first failure.
class LoadGenerator::Clients {
 public:
  template <typename Work>
  Clients(std::uint32_t count, Work work) {
    for (std::uint32_t i = 0; i < count; ++i) {
      threads_.push_back(base::start_thread({"tarry-load", i}, [this, work, i] {
        if (Result<void> done = work(i, failed_); !done) {
          const std::scoped_lock lock(mutex_);
          if (!error_) error_ = std::move(done).error();
          failed_.store(true);
        }
      }));
    }
  }
  ~Clients() { wait(); }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  Result<void> join() {
    wait();
    if (error_) return *error_;
    return {};
  }
  void fail() noexcept { failed_.store(true); }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(); }

 private:
  void wait() {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
  std::vector<std::thread> threads_;
};

double LoadRates::lifecycle() const {
  if (push <= 0 || claim <= 0 || settle <= 0) return 0;
  return 1 / (1 / push + 1 / claim + 1 / settle);
}

LoadGenerator::LoadGenerator(Queue queue, const LoadShape& shape, Progress progress)
    : queue_(std::move(queue)),
      shape_(shape),
      progress_(std::move(progress)),
      payload_(shape.payload, 'x') {}

// -- rates

struct LoadGenerator::RateRun {
  RateRun(std::uint64_t count, std::uint32_t clients) : messages(count), claimed(clients) {}

  const std::uint64_t messages;
  std::vector<std::vector<std::vector<Delivery>>> claimed;  // one entry per client
  std::atomic<std::uint64_t> begun{0};                      // pushes that have begun
  std::atomic<std::uint64_t> done{0};                       // finished steps: three per message
  std::mutex progress_mutex;

  void step(std::uint64_t more, const Progress& progress) {
    const std::uint64_t now = done.fetch_add(more) + more;
    const std::scoped_lock lock(progress_mutex);
    progress(now, 3 * messages);
  }
};

Result<void> LoadGenerator::push_all(RateRun& run, const std::atomic<bool>& failed) {
  const Due now = Due::at(Time(Millis(now_us() / 1000)));
  while (!failed && !stopped_) {
    const std::uint64_t first = run.begun.fetch_add(shape_.batch);
    if (first >= run.messages) break;
    const std::uint64_t count = std::min<std::uint64_t>(shape_.batch, run.messages - first);
    auto made = push(queue_, payload_, count, [now](std::size_t) { return now; });
    if (!made) return made;
    run.step(count, progress_);
  }
  return {};
}

Result<void> LoadGenerator::claim_all(RateRun& run, std::uint32_t client,
                                      const std::atomic<bool>& failed) {
  ClaimOptions options;
  options.max = shape_.batch;
  options.lease = kLease;
  auto last = Steady::now();
  while (!failed && !stopped_ && run.done < 2 * run.messages) {
    auto deliveries = queue_.claim(options);
    if (!deliveries) return std::move(deliveries).error();
    if (deliveries->empty()) {
      if (Steady::now() - last > kPatience) {
        return Error{ErrorCode::unavailable,
                     "pushed messages do not come back: does another program claim from " +
                         queue_.name() + "?"};
      }
      // Messages may not be due yet, because the store's clock may be behind this machine's.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    last = Steady::now();
    run.step(deliveries->size(), progress_);
    run.claimed[client].push_back(*std::move(deliveries));
  }
  return {};
}

Result<void> LoadGenerator::settle_all(RateRun& run, std::uint32_t client,
                                       const std::atomic<bool>& failed) {
  for (const std::vector<Delivery>& deliveries : run.claimed[client]) {
    if (failed || stopped_) break;
    if (auto acked = ack(queue_, deliveries); !acked) return acked;
    run.step(deliveries.size(), progress_);
  }
  return {};
}

Result<LoadRates> LoadGenerator::rates(std::uint64_t messages) {
  RateRun run(messages, shape_.clients);
  using Failed = const std::atomic<bool>&;
  const auto timed = [&](double& rate, auto work) -> Result<void> {
    const auto start = Steady::now();
    Clients clients(shape_.clients, work);
    if (auto joined = clients.join(); !joined) return joined;
    if (stopped_) return Error{ErrorCode::unknown_outcome, kStopped};
    rate = static_cast<double>(messages) / std::max(seconds_since(start), 1e-9);
    return {};
  };
  LoadRates rates;
  auto done = timed(rates.push,
                    [&](std::uint32_t /*client*/, Failed failed) { return push_all(run, failed); });
  if (done) {
    done = timed(rates.claim, [&](std::uint32_t client, Failed failed) {
      return claim_all(run, client, failed);
    });
  }
  if (done) {
    done = timed(rates.settle, [&](std::uint32_t client, Failed failed) {
      return settle_all(run, client, failed);
    });
  }
  if (!done) return std::move(done).error();
  return rates;
}

// -- lateness

struct LoadGenerator::LatenessRun {
  LatenessRun(double rate, std::chrono::milliseconds time, std::uint32_t clients)
      : per_second(rate), duration(time), lateness(clients) {}

  const double per_second;
  const std::chrono::milliseconds duration;
  const Steady::time_point start = Steady::now();
  std::vector<base::Histogram> lateness;  // one per client
  std::atomic<std::uint64_t> pushed{0};
  std::atomic<std::uint64_t> claimed{0};
  std::atomic<bool> all_pushed{false};
};

Result<void> LoadGenerator::claim_due(LatenessRun& run, std::uint32_t client,
                                      const std::atomic<bool>& failed) {
  ClaimOptions options;
  options.max = shape_.batch;
  options.lease = kLease;
  options.wait = Millis(100);
  while (!failed && !stopped_ && !(run.all_pushed && run.claimed >= run.pushed)) {
    if (Steady::now() - run.start > run.duration + kDrain) break;
    auto deliveries = queue_.claim(options);
    const std::int64_t arrived = now_us();
    if (!deliveries) return std::move(deliveries).error();
    if (deliveries->empty()) continue;
    for (const Delivery& delivery : *deliveries) {
      run.lateness[client].record(arrived - delivery.due().time_since_epoch().count() * 1000);
    }
    if (auto acked = ack(queue_, *deliveries); !acked) return acked;
    run.claimed += deliveries->size();
  }
  return {};
}

Result<void> LoadGenerator::push_steadily(LatenessRun& run, const Clients& claimers,
                                          const std::atomic<bool>& failed) {
  std::uint64_t sent = 0;
  while (!failed && !stopped_ && !claimers.failed()) {
    const auto elapsed = Steady::now() - run.start;
    if (elapsed >= run.duration) break;
    const double due_by_now = run.per_second * std::chrono::duration<double>(elapsed).count();
    const auto owed = static_cast<std::uint64_t>(std::max(0.0, due_by_now - double(sent)));
    if (owed == 0) {
      std::this_thread::sleep_for(kTick);
      continue;
    }
    const std::size_t count = std::min<std::uint64_t>(owed, shape_.batch);
    const std::int64_t from = now_us() / 1000 + kAhead.count();
    auto made = push(queue_, payload_, count, [&](std::size_t i) {
      const auto spread = static_cast<std::int64_t>((sent + i) % std::uint64_t{kAhead.count()});
      return Due::at(Time(Millis(from + spread)));
    });
    if (!made) return made;
    sent += count;
    run.pushed = sent;
    const auto done = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
    progress_(static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(run.duration.count()));
  }
  return {};
}

Result<LatenessAtLoad> LoadGenerator::lateness(double per_second,
                                               std::chrono::milliseconds duration) {
  LatenessRun run(per_second, duration, shape_.clients);
  using Failed = const std::atomic<bool>&;
  Clients claimers(shape_.clients, [&](std::uint32_t client, Failed failed) {
    return claim_due(run, client, failed);
  });
  Clients pusher(1, [&](std::uint32_t /*client*/, Failed failed) {
    return push_steadily(run, claimers, failed);
  });
  auto sent = pusher.join();
  LatenessAtLoad at;
  at.asked = per_second;
  at.reached = static_cast<double>(run.pushed) / std::max(seconds_since(run.start), 1e-9);
  if (!sent) claimers.fail();
  run.all_pushed = true;
  auto ended = claimers.join();
  if (!sent) return std::move(sent).error();
  if (!ended) return std::move(ended).error();
  if (stopped_) return Error{ErrorCode::unknown_outcome, kStopped};
  for (const base::Histogram& one : run.lateness) at.lateness.merge(one);
  at.claimed = run.claimed;
  return at;
}

}  // namespace tarry::app
