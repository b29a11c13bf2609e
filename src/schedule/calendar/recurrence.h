// Recurrence: when something happens again and again. By a cron expression, on the local clock of a
// time zone; or at a fixed interval (`every 15m`), counted from the start, or from 1970 if there is
// none.
//
// A local time need not be one moment. Where the local clock changes:
//   - A local time that is skipped happens at the moment of the change: 02:30 at 03:00, when the
//     clock goes from 02:00 to 03:00. Several such times become one occurrence.
//   - A local time that comes twice happens the first time only.
//   - An expression that names every hour (`30 * * * *`) is not about times of the day, but about
//     how often: times that are skipped do not happen, times that come twice happen twice. So an
//     hour passes between two of them.
//
// An occurrence has a nominal time, which names it. With a jitter it happens up to that much later,
// always before the next one's nominal time. The delay follows from the name and the nominal time
// alone, so every process computes the same one.
//
// Immutable and cheap to copy: thread safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>
#include <tarry/time.h>

namespace tarry::schedule {

inline constexpr std::int64_t kMinIntervalMs = 1000;
inline constexpr std::int64_t kMaxIntervalMs = 3650ll * 24 * 3600 * 1000;

struct RecurrenceSpec {
  std::string when;                // a cron expression, or `every DURATION`
  std::string zone = {};           // empty: UTC
  std::optional<Time> start = {};  // no occurrence before it
  std::optional<Time> end = {};    // and none after it
  Millis jitter{0};

  friend bool operator==(const RecurrenceSpec&, const RecurrenceSpec&) = default;
};

class Recurrence {
 public:
  /// Errors: `invalid_argument`, which names the value and its limit; those of Zone::find. Also if
  /// it never happens between start and end.
  [[nodiscard]] static Result<Recurrence> make(const RecurrenceSpec& spec);

  /// The nominal time of the first occurrence after that moment; nothing if there is none until the
  /// end of the year 2200.
  [[nodiscard]] std::optional<Time> next(Time after) const;

  /// The moment on the local clock of the zone: `2026-03-29T03:00:00+02:00`.
  [[nodiscard]] std::string local_text(Time moment) const;

  /// When the occurrence with that nominal time happens, by the schedule of that name.
  [[nodiscard]] Time with_jitter(std::string_view name, Time nominal) const;

 private:
  struct Data;
  explicit Recurrence(std::shared_ptr<const Data> data) noexcept : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

}  // namespace tarry::schedule
