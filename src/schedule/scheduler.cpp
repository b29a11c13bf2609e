#include "schedule/scheduler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <new>
#include <span>
#include <utility>

#include "base/threads/thread.h"
#include "core/engine.h"
#include "core/limits.h"
#include "schedule/names.h"
#include "schedule/scheduler_work.h"
#include "schedule/schedules.h"
#include "schedule/turn.h"

namespace tarry::schedule {
namespace {

constexpr std::uint32_t kTimersOfATurn = 500;
// While timers are on time, a turn gathers those of this time: fewer requests and syncs delay fewer
// messages. It is a small part of the lead.
constexpr std::chrono::milliseconds kGather{50};
constexpr std::chrono::milliseconds kShortWait{100};
constexpr std::chrono::milliseconds kLongWait{1'000};

/// Whether the turn's occurrences are still to come, and it was not too short for what was due.
bool may_gather(std::span<const Delivery> timers) {
  if (timers.size() >= kTimersOfATurn) return false;
  return std::ranges::all_of(timers, [](const Delivery& timer) {
    return timer.claimed_at() - timer.due() < kLead - kGather;
  });
}

/// Returns early if the stop is requested.
void sleep_for(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

Scheduler::Scheduler(const Store& store, Log log, ConfigureQueue configure)
    : store_(store),
      schedules_(store.queue(kSchedulesQueue)),
      timers_(store.queue(kTimersQueue)),
      log_(std::move(log)),
      configure_(std::move(configure)) {}

bool Scheduler::is_possible(const Store& store) { return static_cast<bool>(check_store(store)); }

void Scheduler::start() {
  thread_ =
      base::start_jthread("tarry-schedule", [this](const std::stop_token& stop) { run(stop); });
}

void Scheduler::stop() { thread_.request_stop(); }

void Scheduler::check_queues_again() {
  const std::lock_guard lock(mutex_);
  remembering_.clear();
}

SchedulerStats Scheduler::stats() const { return {pushed_, repeated_, skipped_, failed_, away_}; }

void Scheduler::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      if (!take_turn(stop)) return;
    } catch (const std::bad_alloc&) {
      // Verbs that find no memory have done nothing; timers come again when their lease ends.
      tell(LogLevel::warning, "schedules_late", "schedules: out of memory; trying again");
      sleep_for(stop, kLongWait);
    }
  }
}

/// Waits for timers, and carries them out. False: the store is closed.
bool Scheduler::take_turn(const std::stop_token& stop) {
  const ClaimOptions options{.max = kTimersOfATurn,
                             .lease = Millis(kTurnLease),
                             .wait = Millis(core::kMaxWaitMs),
                             .stop = stop};
  const auto asked = std::chrono::steady_clock::now();
  const bool begins = !restored_;
  const auto claimed = begins ? restore() : timers_.claim(options);
  const auto woken = std::chrono::steady_clock::now();
  if (!claimed) {
    if (claimed.error().code == ErrorCode::closed) return false;
    if (!away_.exchange(true)) {
      tell(LogLevel::warning, "schedules_away",
           "schedules: " + claimed.error().message + "; trying again");
    }
    sleep_for(stop, backoff_.next());
    return true;
  }
  backoff_.reset();
  if (away_.exchange(false)) {
    tell(LogLevel::info, "schedules_back", "schedules: the store is back");
  }
  if (!claimed->empty()) {
    carry_out(*claimed);
    const auto taken = std::chrono::steady_clock::now() - woken;
    if (may_gather(*claimed) && taken < kGather) {
      sleep_for(stop, std::chrono::ceil<std::chrono::milliseconds>(kGather - taken));
    }
  } else if (!begins && std::chrono::steady_clock::now() - asked < kShortWait) {
    // Something else than time has ended the wait, for example a pause of the queue.
    sleep_for(stop, kShortWait);
  }
  return true;
}

Result<std::vector<Delivery>> Scheduler::restore() {
  if (auto done = restore_timers(store_); !done) return done.error();
  restored_ = true;
  return std::vector<Delivery>();
}

void Scheduler::tell(LogLevel level, std::string_view code, const std::string& text) const {
  if (log_) log_({level, code, text});
}

}  // namespace tarry::schedule
