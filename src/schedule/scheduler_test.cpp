#include "schedule/scheduler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "schedule/calendar/recurrence.h"
#include "schedule/names.h"
#include "schedule/schedules.h"
#include "schedule/turn.h"

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

  /// Messages that wait in the queue of the occurrences.
  std::uint64_t in_queue() {
    const auto stats = reports.stats();
    return stats ? stats->scheduled + stats->ready : 0;
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
  clock.advance(15min - kLead - 1ms);
  ASSERT_TRUE(settled());
  EXPECT_EQ(in_queue(), 0U);
  // The occurrence waits in its queue for its time.
  clock.advance(1ms);
  ASSERT_TRUE(settled());
  EXPECT_EQ(in_queue(), 1U);
  EXPECT_EQ(reports.get("report@2020-01-01T00:15:00Z")->due, clock.now() + kLead);
  clock.advance(kLead - 1ms);
  EXPECT_EQ(claimed(), Keys());
  clock.advance(1ms);
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

TEST_F(SchedulerTest, ChangesWithinTheLeadComeTooLate) {
  EXPECT_TRUE(put(store, every("every 15m")));
  ASSERT_TRUE(settled());
  const auto go_to_lead = [&] {
    clock.advance(15min - kLead);
    return settled();
  };
  ASSERT_TRUE(go_to_lead());
  EXPECT_TRUE(pause(store, "report", true));
  clock.advance(kLead);
  EXPECT_EQ(claimed(), Keys{"report@2020-01-01T00:15:00Z"});
  ASSERT_TRUE(go_to_lead());
  EXPECT_TRUE(pause(store, "report", false));
  clock.advance(kLead);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys());
  // Neither is the occurrence pushed again, nor does one get lost.
  ASSERT_TRUE(go_to_lead());
  auto other = every("every 15m");
  other.payload = "weekly";
  EXPECT_EQ(*put(store, other), false);
  clock.advance(kLead);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys{"report@2020-01-01T00:45:00Z"});
  ASSERT_TRUE(go_to_lead());
  EXPECT_TRUE(remove(store, "report"));
  clock.advance(kLead + 15min);
  ASSERT_TRUE(settled());
  const auto last = reports.claim({.max = 10});
  ASSERT_EQ(last->size(), 1U);
  EXPECT_EQ((*last)[0].key(), "report@2020-01-01T01:00:00Z");
  EXPECT_EQ((*last)[0].payload(), "weekly");
}

// A schedule that is added within the lead of its first occurrence still pushes this occurrence.
TEST_F(SchedulerTest, AScheduleMayBeginWithinTheLead) {
  clock.advance(15min - 1ms);
  EXPECT_TRUE(put(store, every("every 15m")));
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys());
  clock.advance(1ms);
  EXPECT_EQ(claimed(), Keys{"report@2020-01-01T00:15:00Z"});
}

TEST_F(SchedulerTest, SeveralOccurrencesWithinALead) {
  auto definition = every("every 1s");
  definition.recurrence.jitter = 1s;
  const auto recurrence = *Recurrence::make(definition.recurrence);
  EXPECT_TRUE(put(store, definition));
  const Time begin = clock.now();
  Keys seen;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(settled());
    clock.advance(100ms);
    for (std::string& key : claimed()) seen.push_back(std::move(key));
  }
  ASSERT_TRUE(settled());
  for (std::string& key : claimed()) seen.push_back(std::move(key));
  Keys wanted;
  for (auto time = *recurrence.next(begin); recurrence.with_jitter("report", time) <= clock.now();
       time = *recurrence.next(time)) {
    wanted.push_back(occurrence_key("report", time));
  }
  EXPECT_GE(wanted.size(), 9U);
  EXPECT_EQ(seen, wanted);
}

// The timer of the schedule as it was falls due before the occurrence as it is now.
TEST_F(SchedulerTest, AScheduleThatGetsMoreJitterGoesOn) {
  EXPECT_TRUE(put(store, every("every 15m")));
  ASSERT_TRUE(settled());
  auto definition = every("every 15m");
  definition.recurrence.jitter = 14min;
  const auto recurrence = *Recurrence::make(definition.recurrence);
  EXPECT_EQ(*put(store, definition), false);
  ASSERT_TRUE(settled());
  const Time first = clock.now() + 15min;
  const Millis late = recurrence.with_jitter("report", first) - first;
  ASSERT_GT(late, 1s);
  clock.advance(15min);
  ASSERT_TRUE(settled());
  EXPECT_EQ(in_queue(), 0U);
  clock.advance(late - 1ms);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys());
  clock.advance(1ms);
  EXPECT_EQ(claimed(), Keys{"report@2020-01-01T00:15:00Z"});
  EXPECT_EQ(show(store, "report")->next, first + 15min);
  EXPECT_EQ(show(store, "report")->due, recurrence.with_jitter("report", first + 15min));
  EXPECT_EQ(schedulers[0]->stats().failed, 0U);
}

// An earlier program made timers without a lead.
TEST_F(SchedulerTest, ATimerMayBeDueAtItsOccurrence) {
  EXPECT_TRUE(put(store, every("every 15m")));
  ASSERT_TRUE(settled());
  const Queue timers = store.queue(kTimersQueue);
  EXPECT_TRUE(timers.reschedule("report@2020-01-01T00:15:00Z", at(clock.now() + 15min)));
  EXPECT_EQ(show(store, "report")->due, clock.now() + 15min);
  clock.advance(15min - 1ms);
  ASSERT_TRUE(settled());
  EXPECT_EQ(in_queue(), 0U);
  clock.advance(1ms);
  ASSERT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys{"report@2020-01-01T00:15:00Z"});
  clock.advance(15min);
  EXPECT_TRUE(settled());
  EXPECT_EQ(claimed(), Keys{"report@2020-01-01T00:30:00Z"});
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
