// Ids are given once, also where Redis has lost what it had given.
#include "engines/redis/ids.h"

#include <chrono>
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "support/engine_calls.h"
#include "support/inbox_rig.h"

namespace tarry::redis {
namespace {

using tarry::testing::InboxRig;
using Given = std::vector<std::uint64_t>;

class IdsTest : public ::testing::Test, protected test::EngineCalls {
 protected:
  IdsTest() {
    (void)push(1);
    (void)rig_.ask({"HINCRBY", kStore, "ids", "1000000000000"});  // so that the time parts nothing
  }

  // Through a process of its own.
  Given push(std::size_t messages) {
    const auto engine = rig_.open();
    core::PushRequest request = push_of("q", std::chrono::hours(1));
    request.items.resize(messages, request.items.front());
    Given ids;
    for (const auto& item : take<core::PushReply>(*engine, std::move(request)).items) {
      ids.push_back(item.id);
    }
    return ids;
  }
  std::string last() { return rig_.ask({"HGET", kStore, "ids"}); }
  std::size_t messages() {
    const auto engine = rig_.open();
    return InboxRig::list(*engine, "q").size();
  }

  inline static const std::string kStore = InboxRig::key(0, "store");
  InboxRig rig_{{"--appendonly", "yes"}};
};

TEST_F(IdsTest, AProcessThatPushesLittleTakesFew) {
  const std::uint64_t first = push(1).front();
  EXPECT_EQ(last(), std::to_string(first + 99));
  EXPECT_EQ(push(20).back(), first + 119);
  EXPECT_EQ(last(), std::to_string(first + 199));
  EXPECT_EQ(push(400).back(), first + 599);
  EXPECT_EQ(last(), std::to_string(first + 599));
}

TEST_F(IdsTest, AProcessThatGoesOnTakesThemTogether) {
  const auto engine = rig_.open();
  (void)take<core::PushReply>(*engine, push_of("q", std::chrono::hours(1)));
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    (void)take<core::PushReply>(*engine, push_of("q", std::chrono::hours(1)));
    seen.insert(last());
  }
  EXPECT_EQ(seen.size(), 2u);
}

// What is lost is `ids` alone, as in a cluster, where other nodes keep the messages: a message that
// has another one's id has its member, and so takes its place.
TEST_F(IdsTest, AServerThatWasStartedAgainGivesNoneThatItHasForgotten) {
  (void)push(1);
  const std::string known = last();
  const Given lost = push(1'000);
  (void)rig_.ask({"HSET", kStore, "ids", known});
  rig_.server().restart();
  const Given since = push(1'000);
  EXPECT_GT(since.front(), lost.back());
  EXPECT_EQ(messages(), 2'002u);
}

// They forget the same, one after the other.
TEST_F(IdsTest, TwoServersThatKnowOfTheSameGiveOthers) {
  const std::string known = last();
  std::set<std::uint64_t> given;
  for (int server = 0; server < 3; ++server) {
    (void)rig_.ask({"HSET", kStore, "ids", known});
    rig_.server().restart();
    for (const std::uint64_t id : push(100)) given.insert(id);
  }
  EXPECT_EQ(given.size(), 300u);
}

TEST_F(IdsTest, AServerThatGoesOnLeavesNoGap) {
  const std::uint64_t first = push(1).front();
  for (std::uint64_t i = 1; i <= 5; ++i) EXPECT_EQ(push(1).front(), first + 100 * i);
}

}  // namespace
}  // namespace tarry::redis
