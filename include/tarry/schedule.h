// Schedules: messages that are pushed again and again, by cron expressions or at intervals.
// docs/guide/schedules.md has the expressions, and what is guaranteed.
//
//   tarry::Schedules schedules(*store);
//   schedules.put({.name = "report", .when = "0 9 * * MON-FRI", .zone = "Europe/Berlin",
//                  .queue = "reports"});
//   auto runner = tarry::ScheduleRunner::start(*store);  // or `tarry serve` on the same store
//
// Thread safe. The verbs block; on a thread of the engine they answer `misuse`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/log.h>
#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/store.h>
#include <tarry/time.h>

namespace tarry {

/// What becomes of occurrences that nobody could push within a minute.
enum class Missed : std::uint8_t {
  skip,  ///< none of them is pushed
  one,   ///< only the latest is pushed
  all,   ///< each is pushed
};

struct Schedule {
  std::string name;                ///< 1 to 128 letters, digits and -_.:, the first no dot
  std::string when;                ///< a cron expression, or an interval: "every 15m"
  std::string zone = {};           ///< a time zone, such as "Europe/Berlin"; empty: UTC
  std::optional<Time> start = {};  ///< no occurrence before it
  std::optional<Time> end = {};    ///< and none after it
  Millis jitter{0};                ///< each occurrence is due up to this much later
  /// Gets a message for each occurrence. The key is the name, an at sign and the time.
  std::string queue;
  std::string payload = {};
  Headers headers = {};
  std::uint32_t priority = kDefaultPriority;
  Missed missed = Missed::one;
  bool paused = false;
};

/// The schedules of a store. Errors of all verbs: those of a Queue; `unsupported` if the store
/// cannot keep schedules (RabbitMQ, and layouts of Redis); `not_found` if there is no such
/// schedule.
class Schedules {
 public:
  explicit Schedules(Store store) noexcept;

  /// Adds the schedule, or replaces the one of that name; occurrences after this moment happen.
  /// Answers whether it is new. Errors: `invalid_argument` names the value and its limit;
  /// `too_large` for the 100,001st schedule.
  [[nodiscard]] Result<bool> put(const Schedule& schedule) const;
  [[nodiscard]] Result<Schedule> get(std::string_view name) const;
  /// All, by name.
  [[nodiscard]] Result<std::vector<Schedule>> list() const;
  /// Messages that the schedule has pushed stay.
  [[nodiscard]] Result<void> remove(std::string_view name) const;
  /// Until `resume`, its occurrences do not happen, and do not count as missed. As with all
  /// changes, occurrences within 250 ms are pushed already.
  [[nodiscard]] Result<void> pause(std::string_view name) const;
  [[nodiscard]] Result<void> resume(std::string_view name) const;
  /// Pushes a message of the schedule now, besides its occurrences. Answers its key.
  [[nodiscard]] Result<std::string> run_now(std::string_view name) const;

  /// The due times of at most `count` occurrences after that moment, of a schedule that need not be
  /// saved; its queue is not looked at.
  [[nodiscard]] static Result<std::vector<Time>> next(const Schedule& schedule, Time after,
                                                      std::uint32_t count = 5);

 private:
  Store store_;
};

/// Pushes the occurrences of a store's schedules, on a thread of its own. Any number of runners and
/// servers may do so on one store. Its end stops the thread; a moved-from runner runs nothing.
class ScheduleRunner {
 public:
  /// `log` gets its events (docs/reference/log.md), on the runner's thread. Errors: `unsupported`
  /// if the store cannot keep schedules; `unavailable` if the system gives no thread.
  [[nodiscard]] static Result<ScheduleRunner> start(Store store, Log log = {});

  ScheduleRunner(ScheduleRunner&&) noexcept;
  ScheduleRunner& operator=(ScheduleRunner&&) = delete;
  ~ScheduleRunner();

 private:
  struct Impl;
  explicit ScheduleRunner(std::unique_ptr<Impl> impl) noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry
