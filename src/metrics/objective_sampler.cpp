#include "metrics/objective_sampler.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <variant>

#include "base/threads/thread.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::metrics {
namespace {

constexpr std::chrono::seconds kEvery{1};
constexpr std::chrono::seconds kAllEvery{60};
constexpr int kRestForWork = 20;             // looks take at most 5 % of the time
constexpr std::size_t kMostAskedAlone = 20;  // queues; more are asked for together

// Outlives the sampler if the engine answers late.
struct Answer {
  std::mutex mutex;
  std::condition_variable_any came;
  std::optional<Result<core::Reply>> reply;
};

}  // namespace

ObjectiveSampler::ObjectiveSampler(core::Engine& engine, LatenessMeter& meter,
                                   std::function<Time()> now)
    : engine_(engine),
      meter_(meter),
      now_(std::move(now)),
      thread_(base::start_jthread("tarry-objective",
                                  [this](const std::stop_token& stop) { run(stop); })) {}

void ObjectiveSampler::run(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  std::mutex mutex;
  std::condition_variable_any never;
  Clock::time_point next_all = Clock::now();
  while (!stop.stop_requested()) {
    const auto begun = Clock::now();
    try {
      const auto names = meter_.with_objective();
      if (begun >= next_all || names.size() > kMostAskedAlone) {
        look_at("", stop);
        next_all = Clock::now() + kAllEvery;
      } else {
        for (const std::string& name : names) look_at(name, stop);
      }
    } catch (const std::bad_alloc&) {
      // The next look may find memory.
    }
    std::unique_lock lock(mutex);
    const auto rest = std::max<Clock::duration>(kEvery, (Clock::now() - begun) * kRestForWork);
    never.wait_for(lock, stop, rest, [] { return false; });
  }
}

void ObjectiveSampler::look_at(const std::string& queue, const std::stop_token& stop) {
  const auto answer = std::make_shared<Answer>();
  engine_.submit(core::StatsRequest{queue}, [answer](Result<core::Reply> reply) {
    const std::lock_guard lock(answer->mutex);
    answer->reply.emplace(std::move(reply));
    answer->came.notify_all();
  });
  std::unique_lock lock(answer->mutex);
  if (!answer->came.wait(lock, stop, [&] { return answer->reply.has_value(); })) return;
  const auto* stats = *answer->reply ? std::get_if<StoreStats>(&**answer->reply) : nullptr;
  if (stats == nullptr) return;
  const Time now = now_();
  for (const QueueStats& each : stats->queues) meter_.observe(each, now);
}

}  // namespace tarry::metrics
