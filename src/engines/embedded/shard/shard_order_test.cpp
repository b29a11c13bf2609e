// A queue that is being given another order in its groups, and one that has messages.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

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
  Result<core::Reply> configure(GroupOrder order) {
    core::ConfigureRequest request;
    request.queue = "q";
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

}  // namespace
}  // namespace tarry::embedded
