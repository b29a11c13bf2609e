#include "core/engine_parts/spread.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/limits.h"

namespace tarry::core {
namespace {

using namespace std::chrono_literals;

constexpr SpreadTime kNow{1'000'000'000'000, 500};

PushRequest pushes(std::size_t count, Due due, Millis spread) {
  PushRequest push;
  push.queue = "q";
  for (std::size_t i = 0; i < count; ++i) {
    PushItem& item = push.items.emplace_back();
    item.key = append(push.bytes, "key" + std::to_string(i));
    item.due = due;
    item.spread = spread;
  }
  return push;
}

// How many of the messages fall due in each of `slots` equal parts of the window.
std::vector<std::uint64_t> slots_of(const PushRequest& push, Due due, Millis spread,
                                    std::size_t slots) {
  std::vector<std::uint64_t> counts(slots, 0);
  for (const PushItem& item : push.items) {
    const std::int64_t late = item.due.millis() - due.millis();
    EXPECT_GE(late, 0);
    EXPECT_LE(late, spread.count());
    EXPECT_EQ(item.spread, 0ms);
    const auto slot =
        static_cast<std::size_t>(late) * slots / static_cast<std::size_t>(spread.count() + 1);
    ++counts[slot];
  }
  return counts;
}

void planned(SpreadCalendars& calendars, PushRequest& push,
             std::vector<std::uint64_t> counts = {}) {
  const ForecastRequest question = SpreadCalendars::question(push, kNow);
  EXPECT_GE(question.buckets, 1u);
  EXPECT_LE(question.buckets, kMaxForecastBuckets);
  counts.resize(question.buckets, 0);
  calendars.plan(push, question, ForecastReply{0, counts, 0}, kNow);
}

TEST(Spread, ABatchComesOutEven) {
  for (const Millis delay : {Millis(0), Millis(30min), Millis(24h * 365 * 50)}) {
    for (const std::size_t slots : {10u, 60u, 100u, 137u}) {
      SpreadCalendars calendars;
      PushRequest push = pushes(10'000, Due::after(delay), 10min);
      planned(calendars, push);
      const auto counts = slots_of(push, Due::after(delay), 10min, slots);
      EXPECT_LE(std::ranges::max(counts) * slots, 2 * 10'000u) << delay.count() << " " << slots;
      EXPECT_GE(std::ranges::min(counts) * slots * 2, 10'000u) << delay.count() << " " << slots;
    }
  }
}

TEST(Spread, AFewMessagesAreEvenToo) {
  SpreadCalendars calendars;
  PushRequest push = pushes(10, Due::after(1h), 10min);
  planned(calendars, push);
  EXPECT_LE(std::ranges::max(slots_of(push, Due::after(1h), 10min, 5)), 3u);
}

TEST(Spread, SingleMessagesOneAfterTheOtherAreEven) {
  SpreadCalendars calendars;
  PushRequest all = pushes(0, {}, 0ms);
  for (int i = 0; i < 1'000; ++i) {
    PushRequest push = pushes(1, Due::after(1h), 10min);
    if (!calendars.plan(push, kNow)) {
      EXPECT_EQ(i, 0);
      planned(calendars, push);
    }
    all.items.push_back(push.items.front());
  }
  const auto counts = slots_of(all, Due::after(1h), 10min, 60);
  EXPECT_LE(std::ranges::max(counts), 2 * 1'000u / 60);
}

// The window's slots 20 to 29 of 100 are full already: all go elsewhere.
TEST(Spread, AvoidsWhatIsThereAlready) {
  SpreadCalendars calendars;
  PushRequest push = pushes(900, Due::after(0ms), 100s);
  std::vector<std::uint64_t> there(100, 0);
  std::fill(there.begin() + 20, there.begin() + 30, 50);
  planned(calendars, push, there);
  const auto counts = slots_of(push, Due::after(0ms), 100s, 100);
  for (std::size_t slot = 0; slot < 99; ++slot) {
    if (slot >= 20 && slot < 30) {
      EXPECT_EQ(counts[slot], 0u) << slot;
    } else {
      EXPECT_LE(counts[slot], 12u) << slot;
    }
  }
}

RC_GTEST_PROP(Spread, stays_in_its_window, ()) {
  const Millis width(*rc::gen::inRange(1, 5'000));
  const auto size = *rc::gen::inRange<std::size_t>(1, 50);
  SpreadCalendar calendar(width, std::vector<std::uint64_t>(size, 3));
  for (int i = 0; i < 30; ++i) {
    const Millis start(*rc::gen::inRange(0, 100'000));
    const Millis spread(*rc::gen::inRange(1, 100'000));
    const Millis place = calendar.place(start, spread);
    RC_ASSERT(place >= start);
    RC_ASSERT(place <= start + spread);
  }
}

TEST(Spread, WithoutACalendarTheKeyDecides) {
  SpreadCalendars calendars;
  PushRequest push = pushes(10'000, Due::at(Time(1h)), 10min);
  PushRequest again = push;
  calendars.plan_by_key(push);
  SpreadCalendars others;
  others.plan_by_key(again);
  for (std::size_t i = 0; i < push.items.size(); ++i) {
    EXPECT_EQ(push.items[i].due, again.items[i].due);
  }
  EXPECT_LE(std::ranges::max(slots_of(push, Due::at(Time(1h)), 10min, 60)), 2 * 10'000u / 60);

  PushRequest nameless = pushes(1'000, Due::after(0ms), 10min);
  for (PushItem& item : nameless.items) item.key = {};
  calendars.plan_by_key(nameless);
  EXPECT_LE(std::ranges::max(slots_of(nameless, Due::after(0ms), 10min, 60)), 2 * 1'000u / 60);
}

TEST(Spread, LeavesWhatIsInvalidToTheEngine) {
  SpreadCalendars calendars;
  PushRequest push = pushes(4, Due::after(1h), 1ms);
  push.items[0].spread = Millis(-1);
  push.items[1].spread = Millis(kMaxSpreadMs + 1);
  push.items[2].due = Due::after(-1ms);
  push.items[3].spread = 0ms;
  const PushRequest before = push;
  EXPECT_FALSE(spreads(Request(push)));
  EXPECT_FALSE(spreads(Request(GetRequest())));
  planned(calendars, push);
  calendars.plan_by_key(push);
  for (std::size_t i = 0; i < push.items.size(); ++i) {
    EXPECT_EQ(push.items[i].spread, before.items[i].spread);
    EXPECT_EQ(push.items[i].due, before.items[i].due);
  }
  push.items[3].spread = 1ms;
  EXPECT_TRUE(spreads(Request(push)));
}

TEST(Spread, ACalendarServesWhileItIsFreshLongAndFine) {
  SpreadCalendars calendars;
  const auto plans = [&](Millis delay, Millis spread, Millis age) {
    PushRequest push = pushes(1, Due::after(delay), spread);
    return calendars.plan(push, {kNow.real_ms + age.count(), kNow.boot_ms + age.count()});
  };
  EXPECT_FALSE(plans(0ms, 10min, 0s));
  PushRequest push = pushes(1, Due::after(0ms), 10min);
  planned(calendars, push);
  EXPECT_TRUE(plans(0ms, 10min, 1s));
  EXPECT_FALSE(plans(1h, 10min, 1s));   // too far away
  EXPECT_FALSE(plans(0ms, 1min, 1s));   // slots of 6 s are too wide
  EXPECT_FALSE(plans(0ms, 10min, 8s));  // this one asks
  EXPECT_TRUE(plans(0ms, 10min, 9s));   // and this one does not wait for it
  EXPECT_FALSE(plans(0ms, 10min, 100s));
}

TEST(Spread, KeepsCalendarsOfSomeQueuesOnly) {
  SpreadCalendars calendars;
  for (std::size_t i = 0; i < 2 * SpreadCalendars::kMaxQueues; ++i) {
    PushRequest push = pushes(1, Due::after(0ms), 1s);
    push.queue = "q" + std::to_string(i);
    planned(calendars, push);
  }
  PushRequest first = pushes(1, Due::after(0ms), 1s);
  first.queue = "q0";
  EXPECT_FALSE(calendars.plan(first, kNow));
}

// Records the requests; answers a forecast as told.
struct Engine {
  std::vector<Request> requests;
  std::optional<Error> forecast_fails;

  Ticket submit(Request request, Completion completion) {
    requests.push_back(std::move(request));
    const auto* asked = std::get_if<ForecastRequest>(&requests.back());
    if (asked == nullptr) {
      completion(Reply(PushReply()));
    } else if (forecast_fails) {
      completion(*forecast_fails);
    } else {
      completion(Reply(ForecastReply{0, std::vector<std::uint64_t>(asked->buckets, 0), 0}));
    }
    return requests.size();
  }
};

TEST(Spread, AnEngineIsAskedForAForecastAndThenPushes) {
  SpreadCalendars calendars;
  Engine engine;
  int done = 0;
  const auto submit = [&](bool can_forecast) {
    static_cast<void>(submit_spread(
        calendars, can_forecast, pushes(3, Due::after(1h), 1min),
        [&](Result<Reply> reply) { done += reply && std::holds_alternative<PushReply>(*reply); },
        [] { return kNow; },
        [&](Request request, Completion completion) {
          return engine.submit(std::move(request), std::move(completion));
        }));
  };
  engine.forecast_fails = Error{ErrorCode::unavailable, "away"};
  submit(true);
  ASSERT_EQ(engine.requests.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<ForecastRequest>(engine.requests[0]));
  EXPECT_FALSE(spreads(engine.requests[1]));
  engine.forecast_fails.reset();
  submit(true);
  ASSERT_EQ(engine.requests.size(), 4u);
  submit(true);  // the calendar is at hand
  ASSERT_EQ(engine.requests.size(), 5u);
  submit(false);
  ASSERT_EQ(engine.requests.size(), 6u);
  EXPECT_EQ(done, 4);
  for (const std::size_t at : {1u, 3u, 4u, 5u}) {
    const auto& push = std::get<PushRequest>(engine.requests[at]);
    slots_of(push, Due::after(1h), 1min, 1);
    EXPECT_EQ(view(push.bytes, push.items[2].key), "key2");
  }
}

}  // namespace
}  // namespace tarry::core
