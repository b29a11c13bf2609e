// Ids are given once, even if Redis has lost ids that it gave.
#include "engines/redis/node/ids.h"

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
    (void)rig_.ask({"HINCRBY", kStore, "ids", "1000000000000"});  // ids are ahead of the time
  }

  // Pushes through a new engine, as a process of its own would.
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
  // The facts about ids of a server that has missed later ids.
  struct Known {
    std::string ids;
    std::string gave;
  };
  Known known() { return {last(), rig_.ask({"HGET", kStore, "gave"})}; }
  // Restarts the server. Like a promoted replica, it then knows no more than `known`.
  void restart_with(const Known& known) {
    (void)rig_.ask({"HSET", kStore, "ids", known.ids, "gave", known.gave});
    rig_.server().restart();
  }
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

// After a server's restart all processes connect again at once, and most of them push little.
TEST_F(IdsTest, AProcessThatComesBackTakesFew) {
  const auto engine = rig_.open();
  for (int i = 0; i < 150; ++i) {
    (void)take<core::PushReply>(*engine, push_of("q", std::chrono::hours(1)));
  }
  rig_.server().restart();
  std::uint64_t first = 0;
  while (first == 0) {
    const auto pushed = ask(*engine, push_of("q", std::chrono::hours(1)));
    if (pushed) first = std::get<core::PushReply>(*pushed).items.at(0).id;
  }
  EXPECT_EQ(last(), std::to_string(first + 99));
}

// Only `ids` is lost: in a cluster, other nodes keep the messages. If an id were given again, the
// new message would overwrite the old one.
TEST_F(IdsTest, AServerThatWasStartedAgainGivesNoneThatItHasForgotten) {
  (void)push(1);
  const Known before = known();
  const Given lost = push(1'000);
  restart_with(before);
  const Given since = push(1'000);
  EXPECT_GT(since.front(), lost.back());
  EXPECT_EQ(messages(), 2'002u);
}

// One server after the other forgets the same ids. Each begins above all ids that the former ones
// gave; otherwise it would count up through them.
TEST_F(IdsTest, TwoServersThatKnowOfTheSameGiveOthers) {
  const Known before = known();
  std::uint64_t highest = 0;
  for (int server = 0; server < 4; ++server) {
    restart_with(before);
    const Given given = push(100);
    EXPECT_GT(given.front(), highest) << server;
    highest = given.back();
  }
}

// The ids are behind the time. Many processes take blocks at once, and so more ids than the time
// provides.
TEST_F(IdsTest, ServersThatGiveMoreThanTheTimeGiveOthers) {
  (void)rig_.ask({"HSET", kStore, "ids", "1"});
  const Known before = known();
  std::uint64_t highest = 0;
  for (int server = 0; server < 3; ++server) {
    restart_with(before);
    for (int process = 0; process < 10; ++process) {
      const Given given = push(5'000);
      EXPECT_GT(given.front(), highest) << server;
      highest = given.back();
    }
  }
}

TEST_F(IdsTest, AServerThatGoesOnLeavesNoGap) {
  const std::uint64_t first = push(1).front();
  for (std::uint64_t i = 1; i <= 5; ++i) EXPECT_EQ(push(1).front(), first + 100 * i);
}

}  // namespace
}  // namespace tarry::redis
