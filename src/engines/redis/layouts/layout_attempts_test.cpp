// Attempts of a layout's messages: a lease that has ended counts them, for as long as the message
// keeps its score.
#include "support/layout_rig.h"

namespace tarry::redis {
namespace {

using core::SettleAction;

class LayoutAttempts : public LayoutTest {
 protected:
  static LayoutEngineOptions with_clock(const std::shared_ptr<timing::ManualClock>& clock) {
    LayoutEngineOptions options = options_of(LayoutSpec());
    options.clock = clock;
    return options;
  }
  Taken claim() {
    auto taken = store_.claim("tasks");
    EXPECT_EQ(taken.size(), 1u);
    return taken.empty() ? Taken() : taken[0];
  }
  std::uint32_t told() { return store_.get("tasks", "t")->attempt; }

  const std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  LayoutStore store_{with_clock(clock_)};
};

TEST_F(LayoutAttempts, ARetryCountsAndAReleaseDoesNot) {
  (void)store_.push("tasks", "t");
  EXPECT_EQ(told(), 0u);
  const Taken released = claim();
  EXPECT_EQ(released.attempt, 1u);
  EXPECT_EQ(told(), 1u);
  EXPECT_EQ(store_.settle(released.receipt, SettleAction::release).outcome, Outcome::done);
  EXPECT_EQ(told(), 0u);

  const Taken retried = claim();
  EXPECT_EQ(retried.attempt, 1u);
  EXPECT_EQ(store_.settle(retried.receipt, SettleAction::retry, 0).outcome, Outcome::done);
  EXPECT_EQ(store_.settle(retried.receipt).outcome, Outcome::stale);
  EXPECT_EQ(told(), 1u);
  EXPECT_EQ(store_.list("tasks").at(0).attempt, 1u);

  const Taken second = claim();
  EXPECT_EQ(second.attempt, 2u);
  EXPECT_EQ(store_.settle(second.receipt, SettleAction::release).outcome, Outcome::done);
  EXPECT_EQ(told(), 1u);
  const Taken last = claim();
  EXPECT_EQ(last.attempt, 2u);
  EXPECT_EQ(store_.settle(last.receipt).outcome, Outcome::done);
  EXPECT_EQ(redis({"KEYS", "*"}).find("lease"), std::string::npos);  // nothing is left
}

TEST_F(LayoutAttempts, ALeaseThatRanOutCountsAlsoAfterAnExtension) {
  (void)store_.push("tasks", "t");
  (void)claim();
  clock_->advance(30'000);
  EXPECT_EQ(told(), 1u);
  const Taken second = claim();
  EXPECT_EQ(second.attempt, 2u);
  EXPECT_EQ(store_.extend(second.receipt, 60'000).outcome, Outcome::done);
  clock_->advance(60'000);
  EXPECT_EQ(claim().attempt, 3u);
}

TEST_F(LayoutAttempts, TheyFollowTheMessageToAnotherTime) {
  (void)store_.push("tasks", "t");
  EXPECT_EQ(store_.settle(claim().receipt, SettleAction::retry, 5'000).outcome, Outcome::done);
  EXPECT_EQ(store_.reschedule("tasks", "t", Due::after(Millis(4'000))).outcome,
            Outcome::rescheduled);
  EXPECT_EQ(told(), 1u);
  EXPECT_EQ(store_.push("tasks", "t", {}, Due::after(Millis(1'000)), IfExists::earlier).outcome,
            Outcome::moved);
  clock_->advance(1'000);
  EXPECT_EQ(claim().attempt, 2u);
}

TEST_F(LayoutAttempts, AMessageThatIsPushedAnewHasNone) {
  const auto retry_once = [&] {
    (void)store_.push("tasks", "t");
    EXPECT_EQ(store_.settle(claim().receipt, SettleAction::retry, 0).outcome, Outcome::done);
    EXPECT_EQ(told(), 1u);
  };
  retry_once();
  EXPECT_EQ(store_.push("tasks", "t", {}, {}, IfExists::replace).outcome, Outcome::replaced);
  EXPECT_EQ(told(), 0u);
  EXPECT_EQ(store_.cancel("tasks", "t").outcome, Outcome::cancelled);

  retry_once();
  EXPECT_EQ(redis({"ZADD", "tasks", "1", "t"}), "0");  // by another program
  EXPECT_EQ(told(), 0u);
  EXPECT_EQ(store_.settle(claim().receipt).outcome, Outcome::done);

  retry_once();
  EXPECT_EQ(store_.cancel("tasks", "t").outcome, Outcome::cancelled);
  (void)store_.push("tasks", "t");
  EXPECT_EQ(claim().attempt, 1u);
}

TEST_F(LayoutAttempts, TheBackoffDoublesWithThemUpToItsMost) {
  (void)store_.push("tasks", "t");
  const std::int64_t most = QueueSettings().backoff_max.count();
  std::int64_t full = QueueSettings().backoff_min.count();
  for (int i = 0; i < 12; ++i) {
    const Taken taken = claim();
    const auto settled = store_.settle(taken.receipt, SettleAction::retry);
    ASSERT_TRUE(settled.due_ms);
    const std::int64_t wait = *settled.due_ms - taken.claimed_ms;
    EXPECT_GE(wait, full / 2);
    EXPECT_LE(wait, full + 1);  // a delay is rounded up
    clock_->advance(wait);
    full = std::min(most, full * 2);
  }
}

TEST_F(LayoutAttempts, ALeaseOfAnOlderVersionIsOne) {
  (void)store_.push("tasks", "t");
  (void)claim();
  (void)redis({"EVAL",
               "local name = redis.call('KEYS', 'tarry:lease:*')[1]; "
               "local lease = cmsgpack.unpack(redis.call('GET', name)); "
               "lease[11], lease[12] = nil, nil; redis.call('SET', name, cmsgpack.pack(lease)); "
               "return 1",
               "0"});
  EXPECT_EQ(told(), 1u);
  clock_->advance(30'000);
  EXPECT_EQ(claim().attempt, 2u);
}

TEST_F(LayoutAttempts, TheCountIsKeptForADayBehindTheDueTime) {
  LayoutStore store(options_of(LayoutSpec()));
  (void)store.push("tasks", "t");
  const auto taken = store.claim("tasks");
  ASSERT_EQ(taken.size(), 1u);
  constexpr std::int64_t kDay = 86'400'000;
  EXPECT_EQ(store.settle(taken[0].receipt, SettleAction::retry, 3 * kDay).outcome, Outcome::done);
  const std::string left =
      redis({"EVAL", "return redis.call('PTTL', redis.call('KEYS', 'tarry:lease:*')[1])", "0"});
  EXPECT_GT(std::stoll(left), 3 * kDay);
  EXPECT_LE(std::stoll(left), 4 * kDay + 1);  // a delay is rounded up
}

}  // namespace
}  // namespace tarry::redis
