// The layout `hash` on a real server: bodies beside members, and either without the other.
#include "support/layout_rig.h"

namespace tarry::redis {
namespace {

using core::SettleAction;

class HashLayout : public LayoutTest {
 protected:
  static LayoutEngineOptions hash(std::string zset = "z", std::string bodies = "h") {
    LayoutSpec spec;
    spec.layout = Layout::hash;
    spec.zset = std::move(zset);
    spec.hash = std::move(bodies);
    return options_of(std::move(spec));
  }
  static void foreign_push(const std::string& score, const std::string& key,
                           const std::string& body) {
    ASSERT_EQ(redis({"ZADD", "z", score, key}), "1");
    ASSERT_EQ(redis({"HSET", "h", key, body}), "1");
  }
};

TEST_F(HashLayout, MemberAndBodyGoTogether) {
  LayoutStore store(hash());
  foreign_push("1", "order:1", "{\"a\":1}");
  const auto taken = store.claim("z");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].key, "order:1");
  EXPECT_EQ(taken[0].payload, "{\"a\":1}");
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(redis({"EXISTS", "z", "h"}), "0");

  const auto pushed = store.push("z", "body", "order:2", Due::after(Millis(60'000)));
  EXPECT_EQ(pushed.outcome, Outcome::pushed);
  EXPECT_EQ(redis({"HGET", "h", "order:2"}), "body");
  EXPECT_EQ(redis({"ZSCORE", "z", "order:2"}), std::to_string(pushed.due_ms));
  EXPECT_EQ(store.push("z", "other", "order:2").outcome, Outcome::exists);
  EXPECT_EQ(redis({"HGET", "h", "order:2"}), "body");
  EXPECT_EQ(store.push("z", "other", "order:2", {}, IfExists::replace).outcome, Outcome::replaced);
  EXPECT_EQ(redis({"HGET", "h", "order:2"}), "other");
  EXPECT_EQ(store.get("z", "order:2")->payload, "other");
  EXPECT_EQ(store.cancel("z", "order:2").outcome, Outcome::cancelled);
  EXPECT_EQ(redis({"EXISTS", "z", "h"}), "0");

  const auto made = store.push("z", "body");
  EXPECT_EQ(made.key.size(), 16u);
  EXPECT_EQ(redis({"HGET", "h", made.key}), "body");
}

TEST_F(HashLayout, AMemberWithoutABodyIsToldAndLookedAtAgain) {
  LayoutStore store(hash());
  ASSERT_EQ(redis({"ZADD", "z", "1", "late"}), "1");
  foreign_push("2", "good", "b");
  const auto taken = store.claim("z");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].key, "good");
  // The member is not lost, and delays no other message.
  EXPECT_GT(std::stoll(redis({"ZSCORE", "z", "late"})), now_ms());
  bool told = false;
  for (const std::string& line : store.lines()) {
    told = told || (line.find("without a body") != std::string::npos &&
                    line.find("\"late\"") != std::string::npos);
  }
  EXPECT_TRUE(told);
  const auto info = store.get("z", "late");
  ASSERT_TRUE(info);
  EXPECT_NE(info->reason.find("no body"), std::string::npos);
  EXPECT_NE(store.list("z").at(0).reason + store.list("z").at(1).reason, "");
  // Now its body arrives.
  ASSERT_EQ(redis({"HSET", "h", "late", "here"}), "1");
  EXPECT_EQ(store.reschedule("z", "late", Due()).outcome, Outcome::rescheduled);
  const auto again = store.claim("z");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].payload, "here");
}

// A producer pushes the key again by HSET and ZADD. Between the two, the old message is acked.
TEST_F(HashLayout, ABodyThatIsPushedAnewOutlivesTheAckOfTheOldOne) {
  LayoutStore store(hash());
  foreign_push("1", "k", "old");
  const auto taken = store.claim("z");
  ASSERT_EQ(taken.size(), 1u);
  ASSERT_EQ(redis({"HSET", "h", "k", "new"}), "0");
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(redis({"ZCARD", "z"}), "0");
  ASSERT_EQ(redis({"ZADD", "z", "1", "k"}), "1");
  const auto again = store.claim("z");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].payload, "new");
  EXPECT_EQ(store.settle(again[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(redis({"EXISTS", "z", "h"}), "0");
}

// If hash= names a key that does not exist, the scores are not changed.
TEST_F(HashLayout, AWrongHashTouchesNothingAndIsTold) {
  LayoutStore store(hash("z", "wrong"));
  foreign_push("1", "k", "b");
  EXPECT_TRUE(store.claim("z").empty());
  EXPECT_TRUE(store.claim("z").empty());
  core::ClaimRequest by_key = LayoutStore::claim_of("z");
  by_key.keys = {"k"};
  EXPECT_TRUE(store.claim(by_key).empty());
  EXPECT_EQ(redis({"ZSCORE", "z", "k"}), "1");
  EXPECT_EQ(redis({"HGET", "h", "k"}), "b");
  std::size_t told = 0;
  for (const std::string& line : store.lines()) {
    if (line.find("HASH \"wrong\" does not exist") != std::string::npos) ++told;
  }
  EXPECT_EQ(told, 1u);
}

// A producer that chooses ZSETs at random has pushed a key twice.
TEST_F(HashLayout, AMemberOfTwoSetsIsUnderOneLeaseAtATime) {
  LayoutStore store(hash("z:{0..1}", "h"));
  ASSERT_EQ(redis({"ZADD", "z:0", "1", "k"}), "1");
  ASSERT_EQ(redis({"ZADD", "z:1", "2", "k"}), "1");
  ASSERT_EQ(redis({"HSET", "h", "k", "b"}), "1");
  const auto taken = store.claim("z");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(redis({"HGET", "h", "k"}), "b");
  EXPECT_EQ(store.reschedule("z", "k", Due()).outcome, Outcome::rescheduled);
  const auto other = store.claim("z");
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].payload, "b");
  EXPECT_EQ(store.cancel("z", "k").outcome, Outcome::stopping);
  EXPECT_EQ(redis({"EXISTS", "z:0", "z:1", "h"}), "0");
}

TEST_F(HashLayout, ManyMembersWithoutBodiesAreInNobodysWay) {
  LayoutStore store(hash());
  ASSERT_EQ(
      redis({"EVAL", "for i = 1, 1300 do redis.call('ZADD', KEYS[1], i, 'bad' .. i) end return 1",
             "1", "z"}),
      "1");
  foreign_push("5000", "good", "b");
  const auto taken = store.claim("z");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].key, "good");
  EXPECT_EQ(redis({"ZCARD", "z"}), "1301");
}

TEST_F(HashLayout, ABodyWithoutAMemberIsDeadUntilItIsMadeDue) {
  LayoutStore store(hash());
  ASSERT_EQ(redis({"HSET", "h", "stray", "b", "other", "c", "third", "d"}), "3");
  EXPECT_TRUE(store.claim("z").empty());
  EXPECT_EQ(store.stats("z").dead, 3u);
  const auto info = store.get("z", "stray");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->state, State::dead);
  EXPECT_EQ(info->payload, "b");
  EXPECT_EQ(store.push("z", "new", "stray").outcome, Outcome::exists);
  EXPECT_EQ(store.reschedule("z", "stray", Due()).outcome, Outcome::revived);
  EXPECT_EQ(store.claim("z").at(0).payload, "b");
  EXPECT_EQ(store.push("z", "new", "other", {}, IfExists::replace).outcome, Outcome::revived);
  EXPECT_EQ(store.claim("z").at(0).payload, "new");
  EXPECT_EQ(store.cancel("z", "third").outcome, Outcome::cancelled);
  EXPECT_EQ(redis({"HEXISTS", "h", "third"}), "0");
}

TEST_F(HashLayout, ManyKeysHaveOneHashOrAsMany) {
  for (const std::string bodies : {"h", "h:{0..2}"}) {
    (void)server().ask({"FLUSHALL"});
    LayoutStore store(hash("z:{0..2}", bodies));
    for (int i = 0; i < 20; ++i) {
      const std::string key = "k" + std::to_string(i);
      ASSERT_EQ(store.push("z", "body of " + key, key).outcome, Outcome::pushed);
    }
    const std::string hash_of_one = bodies == "h" ? "h" : "h:1";
    ASSERT_EQ(redis({"ZADD", "z:1", "1", "foreign"}), "1");
    ASSERT_EQ(redis({"HSET", hash_of_one, "foreign", "body of foreign"}), "1");
    const auto taken = store.claim(LayoutStore::claim_of("z", 0, 30'000, 100));
    ASSERT_EQ(taken.size(), 21u);
    for (const Taken& each : taken) {
      EXPECT_EQ(each.payload, "body of " + each.key);
      EXPECT_EQ(store.settle(each.receipt).outcome, Outcome::done);
    }
    EXPECT_EQ(redis({"DBSIZE"}), "0");
  }
}

TEST_F(HashLayout, KeysOfAnotherTypeAreNamed) {
  ASSERT_EQ(redis({"SET", "h", "mine"}), "OK");
  LayoutStore store(hash());
  const auto pushed = store.push("z", "b", "k");
  ASSERT_TRUE(pushed.error);
  EXPECT_EQ(pushed.error->code, ErrorCode::damaged);
  EXPECT_NE(pushed.error->message.find("h is a string"), std::string::npos)
      << pushed.error->message;
  EXPECT_EQ(redis({"EXISTS", "z"}), "0");
}

}  // namespace
}  // namespace tarry::redis
