// A queue that is being given another order in its groups, and one that has messages.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/shard_rule.h"
#include "storage/memory_storage.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

using test::OneShard;

class ShardOrder : public testing::Test {
 protected:
  QueueHomes& homes() { return one.state().gated.homes(); }
  /// Empty if the push was taken.
  std::optional<Error> push(const std::string& key) {
    const auto reply = one.ask(test::push("q", key.c_str(), Due()));
    return std::get<core::PushReply>(*reply).items.front().error;
  }
  Result<core::Reply> configure(GroupOrder order) { return configure(one, "q", order); }
  static Result<core::Reply> configure(OneShard& one, const std::string& queue, GroupOrder order) {
    core::ConfigureRequest request;
    request.queue = queue;
    request.patch.group = Grouping{Grouping::By::key, {}};
    request.patch.group_order = order;
    return one.ask(std::move(request));
  }

  timing::ManualClock clock;
  storage::MemoryDisk disk;
  OneShard one{disk.root(), clock, {256 << 10, SyncPolicy::always, false}};
};

// It was sent before the change began, so the front did not refuse it.
TEST_F(ShardOrder, APushThatComesDuringTheChangeIsRefused) {
  EXPECT_FALSE(push("a"));
  ASSERT_TRUE(homes().begin_change("q"));
  const auto refused = push("b");
  ASSERT_TRUE(refused) << "was taken";
  EXPECT_EQ(refused->code, ErrorCode::unavailable);
  EXPECT_EQ(one.state().queue(one.state().queues.find("q")).messages(), 1u);
  homes().end_change("q");
  EXPECT_FALSE(push("b"));
}

TEST_F(ShardOrder, AQueueThatHasMessagesKeepsItsOrder) {
  ASSERT_TRUE(configure(GroupOrder::push));
  EXPECT_TRUE(homes().route("q").at_home);
  EXPECT_FALSE(push("{g}a"));
  const auto refused = configure(GroupOrder::due);
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_TRUE(homes().route("q").at_home);
  ASSERT_TRUE(one.ask(test::cancel("q", "{g}a")));
  ASSERT_TRUE(configure(GroupOrder::due));
  EXPECT_FALSE(homes().route("q").at_home);
}

// A configure went to all shards. Before it came here, the queue was given the other order, or was
// removed: this shard must not have an order that the queue's home does not have.
TEST_F(ShardOrder, AConfigureThatComesAfterAnotherChangeIsRefused) {
  storage::MemoryDisk disk_of_two;
  OneShard first{
      disk_of_two.root(), clock, {.segment_bytes = 256 << 10, .keeps_history = false, .shards = 2}};
  QueueHomes& homes = first.state().gated.homes();
  std::string queue = "q";
  while (core::home_of(queue, 2, test::kHashSeed) == 0) queue += "q";
  for (const auto& [asked, at_home] :
       {std::pair(GroupOrder::push, false), std::pair(GroupOrder::due, true)}) {
    homes.set(queue, at_home);
    const auto refused = configure(first, queue, asked);
    ASSERT_FALSE(refused) << to_string(asked) << " was taken";
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_NE(refused.error().message.find(queue), std::string::npos) << refused.error().message;
    homes.set(queue, !at_home);
    EXPECT_TRUE(configure(first, queue, asked)) << to_string(asked);
  }
}

}  // namespace
}  // namespace tarry::embedded
