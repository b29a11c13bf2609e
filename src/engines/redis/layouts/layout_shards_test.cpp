// Each ZSET of a layout's queue counts as a shard, so that relays can divide them.
#include <set>

#include "support/layout_rig.h"

namespace tarry::redis {
namespace {

using Shards = std::vector<std::uint32_t>;

class LayoutShards : public LayoutTest {
 protected:
  static LayoutEngineOptions ten_sets() {
    LayoutSpec spec;
    spec.zset = "{queue}:{0..9}";
    return options_of(std::move(spec));
  }
  static core::ClaimRequest claim_of(Shards shards, std::int64_t wait_ms = 0) {
    auto request = LayoutStore::claim_of("tasks", wait_ms, 30'000, 1'000);
    request.shards = {std::move(shards)};
    return request;
  }
  std::set<std::string> claim(Shards shards) {
    std::set<std::string> keys;
    for (const Taken& taken : store_.claim(claim_of(std::move(shards)))) keys.insert(taken.key);
    return keys;
  }

  LayoutStore store_{ten_sets()};
};

TEST_F(LayoutShards, AQueueTellsThem) { EXPECT_EQ(store_.stats("tasks").shards, 10u); }

TEST_F(LayoutShards, AClaimTakesFromTheNamedOnesOnly) {
  for (int set = 0; set < 10; ++set) {
    const std::string digit = std::to_string(set);
    ASSERT_EQ(redis({"ZADD", "tasks:" + digit, "1", "a" + digit, "2", "b" + digit}), "2");
  }
  EXPECT_EQ(claim({3}), (std::set<std::string>{"a3", "b3"}));
  EXPECT_TRUE(claim({3}).empty());
  EXPECT_EQ(claim({0, 9, 200}), (std::set<std::string>{"a0", "b0", "a9", "b9"}));
  EXPECT_TRUE(claim({10, 200}).empty());
  EXPECT_EQ(claim({}).size(), 14u);
}

TEST_F(LayoutShards, AWaitingClaimIsServedByItsOwn) {
  auto waiting = store_.parked(claim_of({4, 5}, 60'000));
  ASSERT_EQ(redis({"ZADD", "tasks:3", "1", "other"}), "1");
  ASSERT_EQ(redis({"ZADD", "tasks:5", "1", "own"}), "1");
  const auto reply = waiting.get();
  ASSERT_TRUE(reply);
  const auto taken = LayoutStore::taken_in(std::get<core::ClaimReply>(*reply));
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].key, "own");
  EXPECT_EQ(claim({}), (std::set<std::string>{"other"}));
}

}  // namespace
}  // namespace tarry::redis
