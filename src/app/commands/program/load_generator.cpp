#include "app/commands/program/load_generator.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/thread.h"

namespace tarry::app {
namespace {

using Steady = std::chrono::steady_clock;
constexpr Millis kLease = std::chrono::hours(1);  // so that none runs out during a measurement
constexpr std::chrono::seconds kPatience(10);     // for messages that do not come
constexpr const char* kStopped = "stopped before it was measured";
constexpr std::chrono::milliseconds kAhead(250);
constexpr std::chrono::milliseconds kTick(10);
constexpr std::chrono::seconds kDrain(10);  // for messages that are still due when a run ends

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

// Threads that do the same until one of them fails, and the first failure.
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

Result<LoadRates> LoadGenerator::rates(std::uint64_t messages) {
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::vector<std::vector<Delivery>>> claimed(shape_.clients);
  std::mutex progress_mutex;
  const auto step = [&](std::uint64_t more) {
    const std::uint64_t now = done.fetch_add(more) + more;
    const std::scoped_lock lock(progress_mutex);
    progress_(now, 3 * messages);
  };
  const auto timed = [&](auto work) -> Result<double> {
    const auto start = Steady::now();
    Clients clients(shape_.clients, work);
    if (auto joined = clients.join(); !joined) return std::move(joined).error();
    if (stopped_) return Error{ErrorCode::unknown_outcome, kStopped};
    return static_cast<double>(messages) / std::max(seconds_since(start), 1e-9);
  };

  LoadRates rates;
  const Due now = Due::at(Time(Millis(now_us() / 1000)));
  auto pushed = timed([&](std::uint32_t, const std::atomic<bool>& failed) -> Result<void> {
    while (!failed && !stopped_) {
      const std::uint64_t first = begun.fetch_add(shape_.batch);
      if (first >= messages) break;
      const std::uint64_t count = std::min<std::uint64_t>(shape_.batch, messages - first);
      auto made = push(queue_, payload_, count, [now](std::size_t) { return now; });
      if (!made) return made;
      step(count);
    }
    return {};
  });
  if (!pushed) return std::move(pushed).error();
  rates.push = *pushed;

  auto taken = timed([&](std::uint32_t client, const std::atomic<bool>& failed) -> Result<void> {
    ClaimOptions options;
    options.max = shape_.batch;
    options.lease = kLease;
    auto last = Steady::now();
    while (!failed && !stopped_ && done < 2 * messages) {
      auto deliveries = queue_.claim(options);
      if (!deliveries) return std::move(deliveries).error();
      if (deliveries->empty()) {
        if (Steady::now() - last > kPatience) {
          return Error{ErrorCode::unavailable,
                       "pushed messages do not come back: does another program claim from " +
                           queue_.name() + "?"};
        }
        // The store's clock may be behind this machine's.
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      last = Steady::now();
      step(deliveries->size());
      claimed[client].push_back(*std::move(deliveries));
    }
    return {};
  });
  if (!taken) return std::move(taken).error();
  rates.claim = *taken;

  auto settled = timed([&](std::uint32_t client, const std::atomic<bool>& failed) -> Result<void> {
    for (const std::vector<Delivery>& deliveries : claimed[client]) {
      if (failed || stopped_) break;
      if (auto acked = ack(queue_, deliveries); !acked) return acked;
      step(deliveries.size());
    }
    return {};
  });
  if (!settled) return std::move(settled).error();
  rates.settle = *settled;
  return rates;
}

Result<LatenessAtLoad> LoadGenerator::lateness(double per_second,
                                               std::chrono::milliseconds duration) {
  LatenessAtLoad at;
  at.asked = per_second;
  std::atomic<std::uint64_t> pushed{0};
  std::atomic<std::uint64_t> claimed{0};
  std::atomic<bool> all_pushed{false};
  std::vector<base::Histogram> lateness(shape_.clients);

  const auto start = Steady::now();
  Clients claimers(
      shape_.clients, [&](std::uint32_t client, const std::atomic<bool>& failed) -> Result<void> {
        ClaimOptions options;
        options.max = shape_.batch;
        options.lease = kLease;
        options.wait = Millis(100);
        while (!failed && !stopped_ && !(all_pushed && claimed >= pushed)) {
          if (Steady::now() - start > duration + kDrain) break;
          auto deliveries = queue_.claim(options);
          const std::int64_t arrived = now_us();
          if (!deliveries) return std::move(deliveries).error();
          if (deliveries->empty()) continue;
          for (const Delivery& delivery : *deliveries) {
            lateness[client].record(arrived - delivery.due().time_since_epoch().count() * 1000);
          }
          if (auto acked = ack(queue_, *deliveries); !acked) return acked;
          claimed += deliveries->size();
        }
        return {};
      });
  Clients pusher(1, [&](std::uint32_t, const std::atomic<bool>& failed) -> Result<void> {
    std::uint64_t sent = 0;
    while (!failed && !stopped_ && !claimers.failed()) {
      const auto elapsed = Steady::now() - start;
      if (elapsed >= duration) break;
      const double due_by_now = per_second * std::chrono::duration<double>(elapsed).count();
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
      pushed = sent;
      const auto done = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
      progress_(static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(duration.count()));
    }
    return {};
  });
  auto sent = pusher.join();
  at.reached = static_cast<double>(pushed) / std::max(seconds_since(start), 1e-9);
  if (!sent) claimers.fail();
  all_pushed = true;
  auto ended = claimers.join();
  if (!sent) return std::move(sent).error();
  if (!ended) return std::move(ended).error();
  if (stopped_) return Error{ErrorCode::unknown_outcome, kStopped};
  for (const base::Histogram& one : lateness) at.lateness.merge(one);
  at.claimed = claimed;
  return at;
}

}  // namespace tarry::app
