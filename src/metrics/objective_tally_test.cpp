#include "metrics/objective_tally.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace tarry::metrics {
namespace {

using namespace std::chrono_literals;

constexpr Time kBegin{Millis(1'767'225'600'000)};

class ObjectiveTallyTest : public ::testing::Test {
 protected:
  ObjectiveTally tally;
  QueueStats queue;
  Time now = kBegin;

  void SetUp() override {
    queue.settings.objective = {90'000, 1s};
    queue.waiting_claims = 1;
    tally.observe(queue, now);
  }

  /// Claims so many, each so late.
  void claim(int count, Millis late) {
    for (int i = 0; i < count; ++i) tally.claimed(now - late, now);
  }

  std::string counts() const {
    const ObjectiveStats stats = tally.stats();
    EXPECT_EQ(stats.late,
              stats.late_engine + stats.late_unclaimed + stats.late_paused + stats.late_limited);
    return std::to_string(stats.late) + " of " + std::to_string(stats.claims) + ", engine " +
           std::to_string(stats.late_engine) + ", unclaimed " +
           std::to_string(stats.late_unclaimed) + ", paused " + std::to_string(stats.late_paused);
  }
};

TEST_F(ObjectiveTallyTest, BurnsOnceTooManyAreLate) {
  EXPECT_FALSE(tally.stats().burning);
  claim(9, 1s);
  claim(1, 1001ms);
  EXPECT_FALSE(tally.stats().burning);
  claim(1, 1001ms);
  EXPECT_TRUE(tally.stats().burning);
  EXPECT_EQ(counts(), "2 of 11, engine 2, unclaimed 0, paused 0");
  claim(9, 0s);
  EXPECT_FALSE(tally.stats().burning);
}

TEST_F(ObjectiveTallyTest, ALimitHeldTheMessages) {
  queue.settings.max_leased = 2;
  queue.leased = 2;
  queue.waiting_claims = 0;
  tally.observe(queue, now += 1s);
  queue.leased = 1;
  queue.waiting_claims = 1;
  tally.observe(queue, now += 1s);
  claim(3, 2s);
  EXPECT_EQ(tally.stats().late_limited, 3u);
  EXPECT_EQ(counts(), "3 of 3, engine 0, unclaimed 0, paused 0");
  tally.observe(queue, now += 10s);
  claim(1, 2s);
  EXPECT_EQ(tally.stats().late_limited, 3u);
  EXPECT_EQ(tally.stats().late_engine, 1u);
}

TEST_F(ObjectiveTallyTest, AMessageThatWaitsTooLongBurns) {
  queue.oldest_ready = now;
  tally.observe(queue, now + 1s);
  EXPECT_FALSE(tally.stats().burning);
  tally.observe(queue, now + 1001ms);
  EXPECT_TRUE(tally.stats().burning);
  EXPECT_TRUE(tally.stats().overdue);
  queue.oldest_ready.reset();
  tally.observe(queue, now + 2s);
  EXPECT_FALSE(tally.stats().burning);
}

TEST_F(ObjectiveTallyTest, KnowsWhereTheTimeWent) {
  claim(1, 2s);
  EXPECT_EQ(counts(), "1 of 1, engine 1, unclaimed 0, paused 0");
  queue.waiting_claims = 0;
  tally.observe(queue, now += 10s);
  claim(1, 2s);
  EXPECT_EQ(counts(), "2 of 2, engine 1, unclaimed 1, paused 0");
  queue.paused = true;
  tally.observe(queue, now += 10s);
  queue.paused = false;
  queue.waiting_claims = 1;
  tally.observe(queue, now += 1s);
  claim(1, 3s);
  EXPECT_EQ(counts(), "3 of 3, engine 1, unclaimed 1, paused 1");
  // It fell due after the pause, and a claim was waiting.
  tally.observe(queue, now += 10s);
  claim(1, 2s);
  EXPECT_EQ(counts(), "4 of 4, engine 2, unclaimed 1, paused 1");
  // If it was not observed since, the latest state counts.
  queue.waiting_claims = 0;
  tally.observe(queue, now += 10s);
  now += 5s;
  claim(1, 2s);
  EXPECT_EQ(counts(), "5 of 5, engine 2, unclaimed 2, paused 1");
}

TEST_F(ObjectiveTallyTest, BeforeTheFirstStateNobodyWasClaiming) {
  ObjectiveTally fresh;
  fresh.set({90'000, 1s});
  fresh.claimed(now - 2s, now);
  EXPECT_EQ(fresh.stats().late_unclaimed, 1U);
}

TEST_F(ObjectiveTallyTest, TheWindowIsAnHour) {
  claim(1, 2s);
  now += 30min;
  claim(3, 0s);
  EXPECT_EQ(tally.stats().claims, 4U);
  EXPECT_TRUE(tally.stats().burning);
  tally.observe(queue, now += 29min);
  EXPECT_EQ(tally.stats().claims, 4U);
  tally.observe(queue, now += 1min);
  EXPECT_EQ(tally.stats().claims, 3U);
  EXPECT_FALSE(tally.stats().burning);
  now += 24h;
  claim(1, 0s);
  EXPECT_EQ(tally.stats().claims, 1U);
  EXPECT_EQ(tally.total().claims, 5U);
  EXPECT_EQ(tally.total().late(), 1U);
}

TEST_F(ObjectiveTallyTest, AnotherObjectiveBeginsAnew) {
  claim(1, 2s);
  queue.settings.objective.within = 5s;
  tally.observe(queue, now);
  EXPECT_EQ(tally.stats().claims, 0U);
  claim(1, 2s);
  EXPECT_EQ(counts(), "0 of 1, engine 0, unclaimed 0, paused 0");
  EXPECT_EQ(tally.total().late(), 1U);
}

TEST_F(ObjectiveTallyTest, AClockThatIsSetBackBeginsAnew) {
  claim(5, 2s);
  now -= 24h;
  tally.observe(queue, now);
  EXPECT_EQ(tally.stats().claims, 0U);
  claim(1, 0s);
  EXPECT_EQ(tally.stats().claims, 1U);
}

}  // namespace
}  // namespace tarry::metrics
