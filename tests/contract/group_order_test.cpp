// group_order push: the messages of a group come in the order of their pushes, one at a time.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "limited_queues.h"

namespace tarry::contract {
namespace {

class GroupOrders : public LimitedQueues {
 protected:
  Queue ordered(const Grouping& by = kByTenant) {
    const Queue q = queue();
    const QueueSettings settings =
        must(q.configure({.remember = 0ms, .group = by, .group_order = GroupOrder::push}));
    EXPECT_EQ(settings.group_order, GroupOrder::push);
    return q;
  }
  /// Pushes TENANT-0, TENANT-1, ...
  static void push_of(const Queue& q, const std::string& tenant, int count) {
    for (int i = 0; i < count; ++i) push_one(q, tenant + "-" + std::to_string(i), {});
  }
  static void push_one(const Queue& q, const std::string& key, Due due,
                       std::uint32_t priority = kDefaultPriority) {
    const std::string tenant = key.substr(0, key.find('-'));
    const auto pushed = must(q.push({.key = key,
                                     .payload = key,
                                     .due = due,
                                     .headers = {{"tenant", tenant}},
                                     .priority = priority}));
    EXPECT_EQ(pushed.outcome, Outcome::pushed) << key;
  }
  static std::string key_of(const std::vector<Delivery>& claimed) {
    return claimed.size() == 1 ? std::string(claimed[0].key())
                               : std::to_string(claimed.size()) + " messages";
  }
};
INSTANTIATE_TEST_SUITE_P(On, GroupOrders, testing::ValuesIn(limiting(all_engines())), EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GroupOrders);

TEST_P(GroupOrders, IsThatOfThePushesWhateverPriorityAndDueTimeSay) {
  const Queue q = ordered();
  constexpr int kCount = 8;
  for (int i = 0; i < kCount; ++i) {
    push_one(q, "a-" + std::to_string(i), Due::at(Time(Millis(now_ms() - i))),
             100 - static_cast<std::uint32_t>(i));
  }
  for (int i = 0; i < kCount; ++i) {
    const auto claimed = claim(q, 10);
    ASSERT_EQ(key_of(claimed), "a-" + std::to_string(i));
    EXPECT_TRUE(nothing_due(q)) << "while one of the group is leased";
    EXPECT_EQ(must(q.ack(claimed[0].receipt())), Outcome::done);
  }
}

TEST_P(GroupOrders, AreEachGroupsOwn) {
  const Queue q = ordered();
  push_of(q, "a", 3);
  push_of(q, "b", 3);
  std::map<std::string, Delivery> held;
  for (auto& one : claim(q, 10)) held.emplace(one.key(), std::move(one));
  for (auto& one : claim(q, 10)) held.emplace(one.key(), std::move(one));
  ASSERT_EQ(held.size(), 2u);
  ASSERT_TRUE(held.contains("a-0") && held.contains("b-0"));
  EXPECT_EQ(must(q.ack(held.at("b-0").receipt())), Outcome::done);
  EXPECT_EQ(key_of(claim(q, 10)), "b-1");
}

TEST_P(GroupOrders, AMessageThatIsNotDueHoldsTheLaterOnes) {
  const Queue q = ordered();
  push_one(q, "a-0", Due::after(1h));
  push_one(q, "a-1", {});
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1h);
  const auto first = claim(q, 10);
  ASSERT_EQ(key_of(first), "a-0");
  EXPECT_EQ(must(q.ack(first[0].receipt())), Outcome::done);
  EXPECT_EQ(key_of(claim(q, 10)), "a-1");
}

TEST_P(GroupOrders, AMessageThatComesBackHasItsPlace) {
  const Queue q = ordered();
  push_of(q, "a", 2);
  auto first = claim(q, 10);
  ASSERT_EQ(key_of(first), "a-0");
  EXPECT_EQ(must(q.release(first[0].receipt())), Outcome::done);
  first = claim(q, 10);
  ASSERT_EQ(key_of(first), "a-0") << "released";
  EXPECT_EQ(must(q.retry(first[0].receipt(), 1min)), Outcome::done);
  EXPECT_TRUE(nothing_due(q)) << "the backoff holds the group";
  clock().advance(1min);
  first = claim(q, 10, 1min);
  ASSERT_EQ(key_of(first), "a-0") << "retried";
  clock().advance(1min);
  first = claim(q, 10);
  ASSERT_EQ(key_of(first), "a-0") << "its lease ran out";
  EXPECT_EQ(must(q.ack(first[0].receipt())), Outcome::done);
  EXPECT_EQ(key_of(claim(q, 10)), "a-1");
}

TEST_P(GroupOrders, ARescheduleKeepsThePlace) {
  const Queue q = ordered();
  push_of(q, "a", 3);
  EXPECT_EQ(must(q.reschedule("a-0", Due::after(1h))), Outcome::rescheduled);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.reschedule("a-1", Due::after(2h))), Outcome::rescheduled);
  EXPECT_EQ(must(q.reschedule("a-0", Due())), Outcome::rescheduled);
  const auto first = claim(q, 10);
  ASSERT_EQ(key_of(first), "a-0");
  EXPECT_EQ(must(q.ack(first[0].receipt())), Outcome::done);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(2h);
  EXPECT_EQ(key_of(claim(q, 10)), "a-1");
}

TEST_P(GroupOrders, EveryEndLetsTheNextOneGo) {
  const Queue q = ordered();
  push_of(q, "a", 5);
  auto one = claim(q, 10);
  ASSERT_EQ(key_of(one), "a-0");
  EXPECT_EQ(must(q.bury(one[0].receipt(), "bad")), Outcome::done);
  one = claim(q, 10);
  ASSERT_EQ(key_of(one), "a-1");
  EXPECT_EQ(must(q.cancel("a-1")), Outcome::stopping);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.retry(one[0].receipt())), Outcome::done);  // ends: it was cancelled
  one = claim(q, 10);
  ASSERT_EQ(key_of(one), "a-2");
  EXPECT_EQ(must(q.cancel("a-3")), Outcome::cancelled);
  EXPECT_EQ(must(q.ack(one[0].receipt())), Outcome::done);
  EXPECT_EQ(key_of(claim(q, 10)), "a-4");
}

TEST_P(GroupOrders, ARevivedMessageHasItsPlaceAndAReplacedOneIsNew) {
  const Queue q = ordered();
  push_of(q, "a", 4);
  auto one = claim(q, 10);
  ASSERT_EQ(key_of(one), "a-0");
  EXPECT_EQ(must(q.bury(one[0].receipt())), Outcome::done);
  one = claim(q, 10);
  ASSERT_EQ(key_of(one), "a-1");
  EXPECT_EQ(must(q.revive({"a-0"})), 1u);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.release(one[0].receipt())), Outcome::done);
  const auto replaced = must(q.push({.key = "a-1",
                                     .payload = "x",
                                     .headers = {{"tenant", "a"}},
                                     .if_exists = IfExists::replace}));
  EXPECT_EQ(replaced.outcome, Outcome::replaced);
  for (const char* expected : {"a-0", "a-2", "a-3", "a-1"}) {
    one = claim(q, 10);
    ASSERT_EQ(key_of(one), expected);
    EXPECT_EQ(must(q.ack(one[0].receipt())), Outcome::done);
  }
}

TEST_P(GroupOrders, WakeAWaitingClaimWhenTheNextMayGo) {
  const Queue q = ordered();
  push_of(q, "a", 12);
  Delivery held = claim_one(q);
  for (int i = 1; i < 12; ++i) {
    const auto waiting = waiting_claim(q, kGroupWait);
    EXPECT_FALSE(waiting.ready());
    EXPECT_EQ(must(i % 2 == 0 ? q.ack(held.receipt()) : q.bury(held.receipt())), Outcome::done);
    std::vector<Delivery> next = must(waiting.get());
    ASSERT_EQ(key_of(next), "a-" + std::to_string(i));
    held = std::move(next[0]);
  }
}

TEST_P(GroupOrders, WakeAWaitingClaimWhenTheFirstIsCancelled) {
  const Queue q = ordered();
  push_one(q, "a-0", Due::after(1h));
  push_one(q, "a-1", {});
  const auto waiting = waiting_claim(q, kGroupWait);
  EXPECT_FALSE(waiting.ready());
  EXPECT_EQ(must(q.cancel("a-0")), Outcome::cancelled);
  EXPECT_EQ(key_of(must(waiting.get())), "a-1");
}

TEST_P(GroupOrders, HoldClaimsByKey) {
  const Queue q = ordered();
  push_of(q, "a", 3);
  core::ClaimRequest request;
  request.queues = {"q"};
  request.keys = {"a-1", "a-0"};
  request.max = 10;
  request.lease = kLongLease;
  const auto claimed = deliveries(must(submit(rig().engine(), request)));
  ASSERT_EQ(key_of(claimed), "a-0");
  request.keys = {"a-2"};
  request.any_state = true;
  EXPECT_TRUE(deliveries(must(submit(rig().engine(), request))).empty());
}

TEST_P(GroupOrders, HoldForKeysOfTheStoreToo) {
  const Queue q = ordered();
  constexpr int kCount = 40;
  std::vector<std::string> keys;
  for (int i = 0; i < kCount; ++i) {
    const std::string key = i % 3 == 0 ? "" : "k" + std::to_string(i);
    const auto pushed =
        must(q.push({.key = key, .payload = std::to_string(i), .headers = {{"tenant", "a"}}}));
    keys.push_back(pushed.key);
  }
  for (const std::string& key : keys) EXPECT_EQ(must(q.get(key)).group, "a");
  EXPECT_EQ(must(q.cancel(keys[1])), Outcome::cancelled);
  EXPECT_EQ(must(q.cancel(keys[3])), Outcome::cancelled);
  EXPECT_EQ(must(q.reschedule(keys[4], Due())), Outcome::rescheduled);
  for (int i = 0; i < kCount; ++i) {
    if (i == 1 || i == 3) continue;
    const Delivery one = claim_one(q);
    ASSERT_EQ(one.payload(), std::to_string(i));
    EXPECT_EQ(must(q.ack(one.receipt())), Outcome::done);
  }
}

TEST_P(GroupOrders, MayBeByThePartOfTheKey) {
  const Queue q = ordered(kByKeyPart);
  for (int i = 0; i < 9; ++i) {
    (void)must(q.push({.key = "{g" + std::to_string(i % 3) + "}" + std::to_string(i),
                       .payload = std::to_string(i)}));
  }
  std::map<std::string, int> last;
  for (int i = 0; i < 9; ++i) {
    const auto claimed = claim(q, 1);
    ASSERT_EQ(claimed.size(), 1u);
    const Delivery& one = claimed[0];
    const std::string group(one.key().substr(1, 2));
    const int number = std::stoi(std::string(one.payload()));
    EXPECT_GE(number, last[group]);
    last[group] = number;
    EXPECT_EQ(must(q.ack(one.receipt())), Outcome::done);
  }
}

TEST_P(GroupOrders, ChangeOnlyWhileTheQueueHasNoMessage) {
  const Queue q = queue();
  (void)must(q.configure({.remember = 1h, .group = kByTenant}));
  push_of(q, "a", 3);
  const auto refused = q.configure({.group_order = GroupOrder::push});
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  expect_names(refused.error(), {"queue q has 3 messages", "group_order"});
  EXPECT_EQ(must(q.stats()).settings.group_order, GroupOrder::due);
  const auto claimed = claim(q, 10);
  EXPECT_EQ(claimed.size(), 3u) << "the order was not changed";
  for (const Delivery& one : claimed) EXPECT_EQ(must(q.ack(one.receipt())), Outcome::done);
  EXPECT_FALSE(q.configure({.group_order = GroupOrder::push})) << "they are remembered";
  (void)must(q.remove());
  (void)must(q.configure({.group = kByTenant, .group_order = GroupOrder::push}));
  push_of(q, "a", 3);
  EXPECT_EQ(key_of(claim(q, 10)), "a-0");
  EXPECT_FALSE(q.configure({.group_order = GroupOrder::due}));
  // The same order again, and other settings, are no change of it.
  (void)must(q.configure({.max_attempts = 3, .group_order = GroupOrder::push}));
  EXPECT_EQ(must(q.stats()).settings.max_attempts, 3u);
}

TEST_P(GroupOrders, NeedAGroup) {
  const Queue q = queue();
  const auto refused = q.configure({.group_order = GroupOrder::push});
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  expect_names(refused.error(), {"group_order push", "group"});
  (void)ordered();
  EXPECT_FALSE(q.configure({.group = Grouping()}));
  (void)must(q.configure({.group = Grouping(), .group_order = GroupOrder::due}));
  push(q, 30);
  EXPECT_EQ(claim(q, 100).size(), 30u);
}

TEST_P(GroupOrders, EndWithTheirQueue) {
  const Queue q = ordered();
  push_of(q, "a", 3);
  EXPECT_EQ(must(q.remove(true)), 3u);
  push(q, 50);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(must(q.cancel("k" + std::to_string(i))), Outcome::cancelled) << i;
  }
}

TEST_P(GroupOrders, AreToldByWhyAndStats) {
  const Queue q = ordered();
  push_of(q, "a", 2);
  EXPECT_NE(must(q.why("a-0")).cause, Cause::limited);
  const Delivery held = claim_one(q);
  const Why why = must(q.why("a-1"));
  EXPECT_EQ(why.cause, Cause::limited);
  EXPECT_NE(why.text.find("held by group_order push: an earlier message of group \"a\""),
            std::string::npos)
      << why.text;
  EXPECT_TRUE(must(q.get("a-1")).group_waits);
  EXPECT_EQ(must(q.get("a-1")).group_leased, 1u);
  EXPECT_EQ(must(q.stats()).groups_held, 1u);
  EXPECT_EQ(must(q.ack(held.receipt())), Outcome::done);
  EXPECT_FALSE(must(q.get("a-1")).group_waits);
}

// A push is accepted in the shard where its key is looked up from then on, or it is refused.
TEST_P(GroupOrders, ChangeWhilePushesAreUnderWay) {
  const Queue q = queue();
  (void)must(q.configure({.group = kByTenant}));
  constexpr int kRounds = 10;
  constexpr int kEach = 40;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::string> accepted;
    std::thread pushes([&] {
      for (int i = 0; i < kEach; ++i) {
        const std::string key = "k" + std::to_string(i);
        const auto pushed = q.push({.key = key, .payload = "x", .headers = {{"tenant", "a"}}});
        if (pushed) {
          accepted.push_back(key);
        } else {
          EXPECT_EQ(pushed.error().code, ErrorCode::unavailable) << pushed.error().message;
        }
      }
    });
    const bool in_order = must(q.stats()).settings.group_order == GroupOrder::push;
    const auto other = in_order ? GroupOrder::due : GroupOrder::push;
    const auto changed = q.configure({.group_order = other});
    if (!changed) {
      EXPECT_EQ(changed.error().code, ErrorCode::conflict) << changed.error().message;
    }
    pushes.join();
    for (const std::string& key : accepted) {
      EXPECT_EQ(must(q.cancel(key)), Outcome::cancelled) << key;
    }
  }
  // Without pushes beside it, it is changed.
  const bool in_order = must(q.stats()).settings.group_order == GroupOrder::push;
  const auto other = in_order ? GroupOrder::due : GroupOrder::push;
  EXPECT_EQ(must(q.configure({.group_order = other})).group_order, other);
}

// Several consumers, of which some fail, beside producers.
TEST_P(GroupOrders, HoldForManyConsumers) {
  const Queue q = ordered();
  constexpr int kGroups = 5;
  constexpr int kEach = 20;
  std::mutex mutex;
  std::map<std::string, int> next;
  std::atomic<int> done{0};
  std::atomic<int> wrong{0};
  const auto consume = [&](int consumer) {
    for (int turn = 0; done < kGroups * kEach; ++turn) {
      for (const Delivery& one : must(q.claim({.max = 3, .lease = kLongLease}))) {
        const std::string key(one.key());
        const std::string group = key.substr(0, key.find('-'));
        const int number = std::stoi(key.substr(key.find('-') + 1));
        const bool fails = (turn + consumer) % 5 == 0;
        {
          const std::scoped_lock lock(mutex);
          if (next[group] != number) ++wrong;
          if (!fails) ++next[group];
        }
        if (fails) {
          (void)must(q.release(one.receipt()));
        } else {
          (void)must(q.ack(one.receipt()));
          ++done;
        }
      }
    }
  };
  std::vector<std::thread> threads;
  for (int group = 0; group < kGroups; ++group) {
    threads.emplace_back([&q, group] { push_of(q, "g" + std::to_string(group), kEach); });
  }
  for (int consumer = 0; consumer < 3; ++consumer) threads.emplace_back(consume, consumer);
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, 0);
}

class GroupOrdersReopened : public GroupOrders {};
INSTANTIATE_TEST_SUITE_P(On, GroupOrdersReopened, testing::ValuesIn(limiting(durable_engines())),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GroupOrdersReopened);

TEST_P(GroupOrdersReopened, AreKept) {
  (void)ordered();
  push_of(queue(), "a", 5);
  push_of(queue(), "b", 2);
  auto one = claim(queue(), 1);
  ASSERT_EQ(key_of(one), "a-0");
  EXPECT_EQ(must(queue().bury(one[0].receipt())), Outcome::done);
  std::vector<std::string> receipts;
  for (auto all = claim(queue(), 10); !all.empty(); all = claim(queue(), 10)) {
    for (const Delivery& held : all) {
      if (held.key() == "a-1") receipts.emplace_back(held.receipt());
    }
  }
  ASSERT_EQ(receipts.size(), 1u);
  rig().reopen();
  const Queue q = queue();
  EXPECT_EQ(must(q.stats()).settings.group_order, GroupOrder::push);
  EXPECT_TRUE(nothing_due(q));
  push_one(q, "a-5", {});
  EXPECT_EQ(must(q.release(receipts[0])), Outcome::done);
  EXPECT_EQ(must(q.revive({"a-0"})), 1u);
  for (int i = 0; i < 6; ++i) {
    one = claim(q, 10);
    ASSERT_EQ(key_of(one), "a-" + std::to_string(i));
    EXPECT_EQ(must(q.ack(one[0].receipt())), Outcome::done);
  }
  EXPECT_FALSE(q.configure({.group_order = GroupOrder::due})) << "b's messages are there";
}

class NoGroupOrders : public Contract {};
INSTANTIATE_TEST_SUITE_P(On, NoGroupOrders, testing::ValuesIn(limiting(all_engines(), false)),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoGroupOrders);

TEST_P(NoGroupOrders, AreRefusedByName) {
  const auto refused = queue().configure({.group = kByTenant, .group_order = GroupOrder::push});
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported) << refused.error().message;
  expect_names(refused.error(), {"group_order push"});
  (void)must(queue().configure({.group_order = GroupOrder::due}));
}

}  // namespace
}  // namespace tarry::contract
