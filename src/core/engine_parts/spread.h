// Spread: pushes that may fall due anywhere in a window are put where the queue has least to do.
//
// An engine calls `submit_spread` for a push that `spreads`. It asks for a forecast of the queue,
// unless one that is a few seconds old is at hand, and gives each message a due time of its own in
// its window: in the emptiest slot, evenly within the slot. Only then the engine gets the push. If
// there is no forecast, the slot follows from the key, and if there is no key either, from the
// count of such pushes. So a spread never fails a push, and a due time is never earlier than asked.
//
// Which time is chosen affects nothing but evenness. Therefore forecasts may be old, several
// processes may choose at once, and clocks may differ.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::core {

/// Whether the request is a push of which a message has a spread.
[[nodiscard]] bool spreads(const Request& request) noexcept;

/// How many messages of a queue fall due when, from one moment on. Not thread safe.
class SpreadCalendar {
 public:
  /// `counts`: for each slot of `width`, which is above 0.
  SpreadCalendar(Millis width, std::vector<std::uint64_t> counts);

  /// Chooses a place in [start, start + spread], counted from the calendar's beginning, and counts
  /// a message there. `start` and `spread` must not be negative.
  [[nodiscard]] Millis place(Millis start, Millis spread);

  [[nodiscard]] Millis width() const noexcept { return width_; }
  [[nodiscard]] Millis end() const noexcept {
    return width_ * static_cast<std::int64_t>(slots_.size());
  }

 private:
  struct Slot {
    double others = 0;         // messages that were there
    std::uint64_t placed = 0;  // by `place`
  };

  Millis width_;
  std::vector<Slot> slots_;
  std::uint64_t placed_ = 0;
};

/// The store's time, or this machine's, in milliseconds.
struct SpreadTime {
  std::int64_t real_ms = 0;  // since 1970
  std::int64_t boot_ms = 0;  // on a clock that is not set
};

/// The calendars of an engine's queues. Thread safe. Bounded: kMaxQueues calendars of up to
/// kMaxForecastBuckets slots; the oldest is forgotten first.
class SpreadCalendars {
 public:
  static constexpr std::size_t kMaxQueues = 100;
  static constexpr Millis kFresh{5'000};
  /// While another push asks for a new calendar, an older one is used, up to this age.
  static constexpr Millis kStale{60'000};

  /// Gives the messages their due times if a calendar is at hand that is fine and long enough.
  /// False: nothing has changed; ask `question` first.
  [[nodiscard]] bool plan(PushRequest& push, const SpreadTime& now);
  [[nodiscard]] static ForecastRequest question(const PushRequest& push, const SpreadTime& now);
  /// Gives the messages their due times by the answer to `question`, and keeps it.
  void plan(PushRequest& push, const ForecastRequest& asked, const ForecastReply& reply,
            const SpreadTime& now);
  /// Gives the messages their due times without a calendar.
  void plan_by_key(PushRequest& push);

 private:
  struct Kept {
    SpreadCalendar calendar;
    std::int64_t made_ms;   // by SpreadTime::boot_ms
    std::int64_t asked_ms;  // for a newer one
  };
  static void place_all(PushRequest& push, SpreadCalendar& calendar, Millis age,
                        const SpreadTime& now);

  std::mutex mutex_;
  std::map<std::string, Kept, std::less<>> kept_;
  std::uint64_t nameless_ = 0;
};

/// Carries out a push that `spreads`. `submit(request, completion)` returns the ticket; it is
/// called once more after the forecast, on the thread that completes the forecast. It must not come
/// back here. `now()` answers a SpreadTime, on any thread. `calendars` must outlive the requests.
template <typename Now, typename Submit>
Ticket submit_spread(SpreadCalendars& calendars, bool can_forecast, Request request,
                     Completion completion, Now now, Submit submit) {
  auto& push = std::get<PushRequest>(request);
  if (!can_forecast) {
    calendars.plan_by_key(push);
  } else if (const SpreadTime asked = now(); !calendars.plan(push, asked)) {
    ForecastRequest question = SpreadCalendars::question(push, asked);
    return submit(
        Request(question), [&calendars, question, now, submit, push = std::move(push),
                            completion = std::move(completion)](Result<Reply> reply) mutable {
          const auto* found = reply ? std::get_if<ForecastReply>(&*reply) : nullptr;
          if (found != nullptr) {
            calendars.plan(push, question, *found, now());
          } else {
            calendars.plan_by_key(push);  // the push will say what is wrong, if it still is
          }
          static_cast<void>(submit(Request(std::move(push)), std::move(completion)));
        });
  }
  return submit(std::move(request), std::move(completion));
}

}  // namespace tarry::core
