#include "schedule/scheduler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "schedule/names.h"
#include "schedule/schedules.h"

namespace tarry::schedule {
namespace {

using namespace std::chrono_literals;

/// A store in memory, whose clock begins at 2020-01-01T00:00:00Z.
class SchedulerTest : public ::testing::Test {
 protected:
  ManualClock clock;
  Store store = *open("memory:", {.clock = clock});
  Queue reports = store.queue("reports");
  std::vector<std::unique_ptr<Scheduler>> schedulers;

  void SetUp() override { start(); }

  void start() {
    schedulers.push_back(std::make_unique<Scheduler>(store, Log()));
    schedulers.back()->start();
  }

  static Definition every(const std::string& when) {
    Definition definition;
    definition.name = "report";
    definition.recurrence.when = when;
    definition.queue = "reports";
    definition.payload = "monthly";
    definition.missed = Missed::all;
    return definition;
  }

  /// The limit says nothing about speed.
  template <typename Happens>
  static bool eventually(Happens happens) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!happens()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  /// The schedulers have done everything that is due.
  bool settled() {
    return eventually([&] {
      const auto stats = store.queue(kTimersQueue).stats();
      return stats && stats->ready == 0 && stats->leased == 0;
    });
  }

  /// Claims and acks what is due.
  std::vector<std::string> claimed() {
    std::vector<std::string> keys;
    for (const Delivery& each : *reports.claim({.max = 10'000})) {
      keys.emplace_back(each.key());
      EXPECT_EQ(each.payload(), "monthly");
      EXPECT_TRUE(reports.ack(each.receipt()));
    }
    return keys;
  }
};

using Keys = std::vector<std::string>;

TEST_F(SchedulerTest, PushesEachOccurrenceAtItsTime) {
  EXPECT_EQ(*put(store, every("every 15m")), true);
  ASSERT_TRUE(settled());
  clock.advance(15min - 1ms);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys());
  clock.advance(1ms);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys{"report@2020-01-01T00:15:00Z"});
  clock.advance(45min);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), (Keys{"report@2020-01-01T00:30:00Z", "report@2020-01-01T00:45:00Z",
                             "report@2020-01-01T01:00:00Z"}));
  EXPECT_EQ(show(store, "report")->next, clock.now() + 15min);
  EXPECT_EQ(reports.configure({})->remember, kRemember);
}

TEST_F(SchedulerTest, ATurnThatIsRepeatedPushesNothingTwice) {
  EXPECT_TRUE(put(store, every("every 15m")));
  ASSERT_TRUE(settled());
  clock.advance(15min);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed().size(), 1U);
  // The same timer again, as after a crash; the occurrence has been acked meanwhile.
  EXPECT_TRUE(store.queue(kTimersQueue)
                  .push({.key = "report@2020-01-01T00:15:00Z", .if_exists = IfExists::replace}));
  ASSERT_TRUE(eventually([&] { return schedulers[0]->stats().repeated == 1; }));
  EXPECT_EQ(claimed(), Keys());
  // Both turns have the same next timer.
  ASSERT_TRUE(settled());
  EXPECT_EQ(store.queue(kTimersQueue).stats()->scheduled, 1U);
}

TEST_F(SchedulerTest, ManySchedulersPushEachOccurrenceOnce) {
  start();
  start();
  for (int i = 0; i < 50; ++i) {
    auto definition = every("*/5 * * * *");
    definition.name = "s" + std::to_string(i);
    EXPECT_TRUE(put(store, definition));
  }
  ASSERT_TRUE(settled());
  std::map<std::string, int> seen;
  for (int i = 0; i < 12; ++i) {
    clock.advance(5min);
    ASSERT_TRUE(settled());
    for (const std::string& key : claimed()) ++seen[key];
  }
  EXPECT_EQ(seen.size(), 600U);
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
}

TEST_F(SchedulerTest, PausedRemovedAndReplacedSchedules) {
  EXPECT_EQ(*put(store, every("every 15m")), true);
  ASSERT_TRUE(settled());
  EXPECT_TRUE(pause(store, "report", true));
  clock.advance(30min);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys());
  EXPECT_TRUE(pause(store, "report", false));
  EXPECT_EQ(*put(store, every("every 20m")), false);
  ASSERT_TRUE(settled());
  clock.advance(10min);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys{"report@2020-01-01T00:40:00Z"});
  EXPECT_TRUE(run_now(store, "report"));
  EXPECT_EQ(claimed().size(), 1U);
  EXPECT_EQ(list(store)->size(), 1U);
  EXPECT_TRUE(remove(store, "report"));
  clock.advance(24h);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys());
  EXPECT_EQ(list(store)->size(), 0U);
  EXPECT_EQ(remove(store, "report").error().code, ErrorCode::not_found);
  EXPECT_EQ(pause(store, "report", true).error().code, ErrorCode::not_found);
}

TEST_F(SchedulerTest, TimersThatAreLostAreRestored) {
  EXPECT_TRUE(put(store, every("every 15m")));
  ASSERT_TRUE(settled());
  EXPECT_EQ(*store.queue(kTimersQueue).purge(), 1U);
  EXPECT_TRUE(restore_timers(store));
  ASSERT_TRUE(settled());
  EXPECT_EQ(store.queue(kTimersQueue).stats()->scheduled, 1U);
  const auto accepted = store.queue(kTimersQueue).stats()->counters.accepted;
  EXPECT_TRUE(restore_timers(store));
  EXPECT_EQ(store.queue(kTimersQueue).stats()->counters.accepted, accepted);
}

TEST_F(SchedulerTest, ATroubledScheduleDoesNotStopTheOthers) {
  EXPECT_TRUE(put(store, every("every 15m")));
  EXPECT_TRUE(store.queue(kSchedulesQueue).push({.key = "broken", .payload = "{", .due = in(1h)}));
  EXPECT_TRUE(store.queue(kTimersQueue).push({.key = "broken@new.1"}));
  EXPECT_TRUE(store.queue(kTimersQueue).push({.key = "nonsense"}));
  ASSERT_TRUE(settled());
  EXPECT_EQ(store.queue(kTimersQueue).stats()->dead, 1U);
  clock.advance(15min);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed().size(), 1U);
}

}  // namespace
}  // namespace tarry::schedule
