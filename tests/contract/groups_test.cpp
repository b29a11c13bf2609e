// group and group_max_leased: groups take turns, and each has a limit of its own.
#include "limited_queues.h"

namespace tarry::contract {
namespace {

class Groups : public LimitedQueues {
 protected:
  static void group(const Queue& q, const Grouping& by, std::uint32_t most = 0) {
    const QueueSettings settings = must(q.configure({.group = by, .group_max_leased = most}));
    EXPECT_EQ(settings.group, by);
    EXPECT_EQ(settings.group_max_leased, most);
  }
  /// Pushes `count` messages of the tenant.
  static void push_of(const Queue& q, const std::string& tenant, int count) {
    std::vector<Push> pushes;
    std::vector<std::string> keys;
    for (int i = 0; i < count; ++i) keys.push_back(tenant + "-" + std::to_string(i));
    for (const std::string& key : keys) {
      pushes.push_back({.key = key, .payload = "x", .headers = {{"tenant", tenant}}});
    }
    for (const auto& pushed : must(q.push(pushes))) EXPECT_EQ(must(pushed), Outcome::pushed);
  }
  static std::string tenant_of(const Delivery& one) {
    return std::string(one.key().substr(0, one.key().find('-')));
  }
  /// How many messages of each tenant claims get now.
  static std::map<std::string, int> take(const Queue& q, std::vector<Delivery>* into = nullptr) {
    std::map<std::string, int> counts;
    for (auto some = claim(q, 7); !some.empty(); some = claim(q, 7)) {
      for (Delivery& one : some) {
        ++counts[tenant_of(one)];
        if (into != nullptr) into->push_back(std::move(one));
      }
    }
    return counts;
  }
};
INSTANTIATE_TEST_SUITE_P(On, Groups, testing::ValuesIn(limiting(all_engines())), EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Groups);

using Counts = std::map<std::string, int>;

TEST_P(Groups, TakeTurns) {
  const Queue q = queue();
  group(q, kByTenant);
  push_of(q, "noisy", 200);
  for (int i = 0; i < 10; ++i) push_of(q, "quiet" + std::to_string(i), 1);
  // In each shard the noisy one has at most one turn before the others, and one for each of them.
  std::size_t all = 0;
  std::set<std::string> quiet;
  const auto note = [&](const std::vector<Delivery>& claimed) {
    all += claimed.size();
    for (const Delivery& one : claimed) {
      if (tenant_of(one) != "noisy") quiet.insert(tenant_of(one));
    }
  };
  note(claim(q, 10));
  while (quiet.size() < 10 && all < 210) note(claim(q, 1));
  EXPECT_EQ(quiet.size(), 10u);
  EXPECT_LE(all, 100u) << "of 200 noisy messages";
}

TEST_P(Groups, HaveALimitEach) {
  const Queue q = queue();
  group(q, kByTenant, 2);
  push_of(q, "a", 9);
  push_of(q, "b", 1);
  push_of(q, "c", 9);
  std::vector<Delivery> held;
  EXPECT_EQ(take(q, &held), (Counts{{"a", 2}, {"b", 1}, {"c", 2}}));
  EXPECT_TRUE(nothing_due(q));
  for (const Delivery& one : held) {
    if (tenant_of(one) == "a") (void)must(q.ack(one.receipt()));
    if (tenant_of(one) == "b") (void)must(q.release(one.receipt()));
  }
  EXPECT_EQ(take(q), (Counts{{"a", 2}, {"b", 1}}));
  group(q, kByTenant, 3);
  EXPECT_EQ(take(q), (Counts{{"a", 1}, {"c", 1}}));
  group(q, kByTenant, 0);
  EXPECT_EQ(take(q), (Counts{{"a", 4}, {"c", 6}}));
}

TEST_P(Groups, CountWhatWasLeasedBeforeTheLimit) {
  const Queue q = queue();
  group(q, kByTenant);
  push_of(q, "a", 9);
  EXPECT_EQ(claim(q, 1).size() + claim(q, 1).size(), 2u);
  push_of(q, "b", 9);
  group(q, kByTenant, 3);
  EXPECT_EQ(take(q), (Counts{{"a", 1}, {"b", 3}}));
}

TEST_P(Groups, HoldTogetherWithTheQueuesLimit) {
  const Queue q = queue();
  group(q, kByTenant, 2);
  (void)must(q.configure({.max_leased = 3}));
  push_of(q, "a", 9);
  push_of(q, "b", 9);
  std::vector<Delivery> held;
  Counts counts = take(q, &held);
  EXPECT_EQ(counts["a"] + counts["b"], 3);
  EXPECT_LE(counts["a"], 2);
  EXPECT_LE(counts["b"], 2);
  EXPECT_EQ(must(q.ack(held[0].receipt())), Outcome::done);
  counts = take(q);
  EXPECT_EQ(counts["a"] + counts["b"], 1);
}

TEST_P(Groups, AreFixedWhenTheMessageIsPushed) {
  const Queue q = queue();
  push(q, 5);  // of no group: no limit of a group holds them
  group(q, kByTenant, 1);
  push_of(q, "a", 5);
  group(q, kByKeyPart, 1);
  (void)must(q.push({.key = "{b}1", .payload = "x"}));
  (void)must(q.push({.key = "{b}2", .payload = "x"}));
  EXPECT_EQ(take(q).size(), 5u + 1 + 1);
  EXPECT_EQ(must(q.get("a-0")).group, "a");
  EXPECT_EQ(must(q.get("{b}1")).group, "b");
  EXPECT_EQ(must(q.get("k1")).group, "");
  group(q, {}, 1);
  (void)must(q.push({.key = "{b}3", .payload = "x"}));
  EXPECT_EQ(must(q.get("{b}3")).group, "");
}

TEST_P(Groups, RefuseAPushWithoutAGroup) {
  const Queue q = queue();
  group(q, kByTenant);
  const auto refused = q.push({.key = "k", .payload = "x", .headers = {{"other", "a"}}});
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  expect_names(refused.error(), {"no header \"tenant\"", "queue \"q\"", "header:tenant"});
  group(q, kByKeyPart);
  for (const char* key : {"k", "{k", "{}"}) {
    const auto bad = q.push({.key = key, .payload = "x"});
    ASSERT_FALSE(bad) << key;
    EXPECT_EQ(bad.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(must(q.stats()).counters.accepted, 0u);
}

TEST_P(Groups, AReplacedMessageMayChangeItsGroup) {
  const Queue q = queue();
  group(q, kByTenant, 1);
  const auto put = [&](const char* key, const char* tenant) {
    return q.push({.key = key,
                   .payload = "x",
                   .headers = {{"tenant", tenant}},
                   .if_exists = IfExists::replace});
  };
  (void)must(put("a-1", "a"));
  (void)must(put("a-2", "a"));
  EXPECT_FALSE(q.push({.key = "a-2", .payload = "x", .if_exists = IfExists::replace}));
  (void)must(put("a-2", "b"));
  EXPECT_EQ(must(q.get("a-2")).group, "b");
  EXPECT_EQ(take(q), (Counts{{"a", 2}}));
}

TEST_P(Groups, HoldClaimsByKey) {
  const Queue q = queue();
  group(q, kByTenant, 1);
  push_of(q, "a", 3);
  push_of(q, "b", 3);
  core::ClaimRequest request;
  request.queues = {"q"};
  request.keys = {"a-0", "a-1", "b-2"};
  request.max = 10;
  request.lease = kLongLease;
  EXPECT_EQ(deliveries(must(submit(rig().engine(), request))).size(), 2u);
  EXPECT_TRUE(nothing_due(q));
}

TEST_P(Groups, WakeAWaitingClaimWhenALeaseOfTheGroupEnds) {
  const Queue q = queue();
  group(q, kByTenant, 1);
  push_of(q, "a", 20);
  Delivery held = claim_one(q);
  for (int i = 0; i < 19; ++i) {
    const auto waiting = waiting_claim(q, kGroupWait);
    EXPECT_FALSE(waiting.ready());
    EXPECT_EQ(must(q.ack(held.receipt())), Outcome::done);
    std::vector<Delivery> next = must(waiting.get());
    ASSERT_EQ(next.size(), 1u);
    held = std::move(next[0]);
  }
}

TEST_P(Groups, WakeAWaitingClaimWhenALeaseRunsOut) {
  const Queue q = queue();
  group(q, kByTenant, 1);
  push_of(q, "a", 20);
  ASSERT_EQ(claim(q, 1, 1min).size(), 1u);
  const auto waiting = waiting_claim(q, kGroupWait);
  clock().advance(1min);
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Groups, AreToldByWhyAndStats) {
  const Queue q = queue();
  group(q, kByTenant, 1);
  push_of(q, "a", 2);
  std::vector<Delivery> held;
  EXPECT_EQ(take(q, &held), (Counts{{"a", 1}}));
  const std::string other = held[0].key() == "a-0" ? "a-1" : "a-0";
  const Why why = must(q.why(other));
  EXPECT_EQ(why.cause, Cause::limited);
  EXPECT_NE(why.text.find("held by group_max_leased: group \"a\" has 1 of 1 leased"),
            std::string::npos)
      << why.text;
  EXPECT_EQ(must(q.stats()).groups_ready, 1u);
  EXPECT_EQ(must(q.stats()).groups_held, 1u);
  push_of(q, "b", 1);
  EXPECT_EQ(must(q.why("b-0")).cause, Cause::consumers_busy);
  EXPECT_EQ(must(q.ack(held[0].receipt())), Outcome::done);
  EXPECT_NE(must(q.why(other)).cause, Cause::limited);
}

class GroupsReopened : public Groups {};
INSTANTIATE_TEST_SUITE_P(On, GroupsReopened, testing::ValuesIn(limiting(durable_engines())),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GroupsReopened);

TEST_P(GroupsReopened, AreKeptWithTheirLeases) {
  push(queue(), 3);
  group(queue(), kByTenant, 2);
  push_of(queue(), "a", 5);
  push_of(queue(), "b", 5);
  std::vector<Delivery> held;
  EXPECT_EQ(take(queue(), &held).size(), 5u);
  std::vector<std::string> receipts;
  for (const Delivery& one : held) {
    if (tenant_of(one) == "a") receipts.emplace_back(one.receipt());
  }
  ASSERT_EQ(receipts.size(), 2u);
  rig().reopen();
  const Queue q = queue();
  EXPECT_EQ(must(q.stats()).settings.group, kByTenant);
  EXPECT_EQ(must(q.stats()).settings.group_max_leased, 2u);
  EXPECT_EQ(must(q.get("a-4")).group, "a");
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.ack(receipts[0])), Outcome::done);
  EXPECT_EQ(take(q), (Counts{{"a", 1}}));
}

class NoGroups : public Contract {};
INSTANTIATE_TEST_SUITE_P(On, NoGroups, testing::ValuesIn(limiting(all_engines(), false)),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoGroups);

TEST_P(NoGroups, AreRefusedByName) {
  const auto refused = queue().configure({.group = kByTenant});
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported) << refused.error().message;
  expect_names(refused.error(), {"group header:tenant"});
  const auto too = queue().configure({.group_max_leased = 5});
  ASSERT_FALSE(too) << "was taken";
  expect_names(too.error(), {"group_max_leased 5"});
  (void)must(queue().configure({.group = Grouping(), .group_max_leased = 0}));
}

}  // namespace
}  // namespace tarry::contract
