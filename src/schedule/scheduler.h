// Scheduler: claims the timers of schedules that have fallen due (names.h), and pushes what they
// announce. Any number of processes may run one on the same store; none of them leads.
//
// Invariants
//  1. A timer is acked only after its occurrences and the next timer have been pushed. So a crash
//     loses none: when its lease ends, another process repeats the turn.
//  2. Occurrences and timers have keys that follow from the schedule's name and the nominal time,
//     and their queues remember keys for kRemember. So a repeated turn pushes nothing twice.
//  3. A turn that takes as long as its lease is given up.
//
// Thread safety: all members may be called from any thread; `start` only once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tarry/log.h>
#include <tarry/queue.h>
#include <tarry/store.h>

#include "leases/backoff.h"
#include "schedule/calendar/recurrence.h"
#include "schedule/definition.h"

namespace tarry::schedule {

/// For how long a schedule's queue remembers the keys of its occurrences, at least.
inline constexpr Millis kRemember{3'600'000};

/// Counts since the scheduler was made.
struct SchedulerStats {
  std::uint64_t pushed = 0;    // occurrences
  std::uint64_t repeated = 0;  // occurrences that had been pushed already
  std::uint64_t skipped = 0;   // missed occurrences that were not pushed
  std::uint64_t failed = 0;    // turns that failed, and are tried again
  bool is_away = false;        // now: the store cannot be reached
};

/// Changes settings of a queue, and makes the queue if it does not exist.
using ConfigureQueue =
    std::function<Result<QueueSettings>(const std::string& queue, const SettingsPatch& patch)>;

class Scheduler {
 public:
  /// The store outlives the scheduler. `log` gets its events; it and `configure` are called on the
  /// scheduler's thread. `configure`: for programs that give new queues settings of their own;
  /// empty: the store's verb.
  Scheduler(const Store& store, Log log, ConfigureQueue configure = {});
  ~Scheduler() = default;  // stops, and waits for the turn in progress
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Whether the store can do what schedules need.
  [[nodiscard]] static bool is_possible(const Store& store);

  /// Throws std::system_error if the system gives no thread.
  void start();
  /// Ends the wait for a timer. A turn in progress is finished.
  void stop();

  /// The settings of queues have changed: each queue's `remember` is checked again.
  void check_queues_again();

  [[nodiscard]] SchedulerStats stats() const;

 private:
  struct Known {
    std::string definition;  // as JSON
    Definition read;
    std::optional<Recurrence> recurrence;  // empty: it cannot be used
    std::string wrong;                     // then this is why
  };
  struct Work;

  void run(const std::stop_token& stop);
  [[nodiscard]] bool take_turn(const std::stop_token& stop);
  [[nodiscard]] Result<std::vector<Delivery>> restore();
  void carry_out(std::span<const Delivery> timers);
  [[nodiscard]] Result<void> find_definitions(std::vector<Work>& works);
  const Known& known(std::string_view name, const std::string& json);
  [[nodiscard]] Result<void> push_occurrences(std::vector<Work>& works);
  [[nodiscard]] Result<void> push_to(const Queue& queue, std::span<Work* const> works);
  [[nodiscard]] Result<void> push_some(const Queue& queue, std::vector<Push>& messages,
                                       std::vector<Work*>& of);
  [[nodiscard]] Result<void> push_timers(std::vector<Work>& works);
  [[nodiscard]] Result<void> settle(std::vector<Work>& works);
  [[nodiscard]] Result<void> remember_keys_of(const Queue& queue);
  void tell(LogLevel level, std::string_view code, const std::string& text) const;

  const Store& store_;
  const Queue schedules_;
  const Queue timers_;
  const Log log_;
  const ConfigureQueue configure_;
  leases::Backoff backoff_;
  std::atomic<bool> away_ = false;                   // the store could not be reached
  bool restored_ = false;                            // timers that are missing at the start
  std::map<std::string, Known, std::less<>> known_;  // by the schedule's name
  // Timers whose turn is done, but whose lease ended before their ack. They come again.
  std::set<std::string, std::less<>> done_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> remembering_;  // queues whose `remember` has been checked
  std::atomic<std::uint64_t> pushed_ = 0;
  std::atomic<std::uint64_t> repeated_ = 0;
  std::atomic<std::uint64_t> skipped_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace tarry::schedule
