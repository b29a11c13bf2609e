// Groups that keep the order of pushes: GroupTurns with `group_order` push.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engines/embedded/state/lanes/queue_lanes.h"

namespace tarry::embedded {
namespace {

class GroupOrderTest : public testing::Test {
 protected:
  Handle add(const std::string& group, Stage stage, std::uint32_t priority = 1,
             std::int64_t due_ms = 10) {
    const Handle handle = slab.peek_free();
    Message& message = slab.place(handle);
    message.id = ++ids;
    message.priority = priority;
    message.set_due_ms(due_ms);
    if (!group.empty()) lanes.join(handle, group, GroupOrder::push);
    go(handle, Stage::scheduled);
    if (stage != Stage::scheduled) go(handle, stage);
    return handle;
  }
  /// As ShardState does it.
  void go(Handle handle, Stage to) {
    Message& message = slab[handle];
    const Stage from = message.stage();
    if (from == Stage::ready) lanes.remove(handle);
    message.set_stage(to);
    if (lanes.has_groups()) lanes.groups()->note_stage(handle, from, to, false);
    if (to == Stage::ready) lanes.insert(handle);
    if (to == Stage::free) slab.free(handle);
  }
  /// The ids of the messages that claims get, one claim each; they stay leased.
  std::vector<std::uint64_t> claim_all() {
    std::vector<std::uint64_t> claimed;
    while (lanes.first() != kNoHandle) {
      const Handle first = lanes.first();
      claimed.push_back(slab[first].id);
      lanes.pass();
      go(first, Stage::leased);
    }
    return claimed;
  }
  using Ids = std::vector<std::uint64_t>;

  MessageSlab slab;
  HandleBlocks blocks;
  QueueLanes lanes{slab, blocks};
  std::uint64_t ids = 0;
};

TEST_F(GroupOrderTest, OneMessageOfAGroupAtATimeInPushOrder) {
  const Handle one = add("a", Stage::ready, 9, 30);
  const Handle two = add("a", Stage::ready, 1, 10);
  add("b", Stage::ready);
  EXPECT_EQ(claim_all(), (Ids{1, 3}));
  EXPECT_EQ(lanes.groups()->held_groups(), 1u);
  EXPECT_EQ(lanes.groups()->ready_groups(), 1u);
  go(one, Stage::free);
  EXPECT_EQ(claim_all(), (Ids{2}));
  go(two, Stage::free);
  EXPECT_TRUE(lanes.empty());
}

TEST_F(GroupOrderTest, AScheduledMessageHoldsTheLaterOnes) {
  const Handle one = add("a", Stage::scheduled);
  add("a", Stage::ready);
  EXPECT_EQ(claim_all(), Ids{});
  go(one, Stage::ready);
  EXPECT_EQ(claim_all(), (Ids{1}));
  go(one, Stage::scheduled);  // a retry
  EXPECT_EQ(claim_all(), Ids{});
  go(one, Stage::dead);
  EXPECT_EQ(claim_all(), (Ids{2}));
}

TEST_F(GroupOrderTest, ARevivedMessageHasItsOldPlace) {
  const Handle one = add("a", Stage::ready);
  const Handle two = add("a", Stage::ready);
  add("a", Stage::ready);
  go(one, Stage::dead);
  EXPECT_EQ(claim_all(), (Ids{2}));
  go(one, Stage::scheduled);
  go(one, Stage::ready);
  EXPECT_EQ(claim_all(), Ids{});
  EXPECT_FALSE(lanes.order_permits(one)) << "another one is leased";
  go(two, Stage::free);
  EXPECT_EQ(claim_all(), (Ids{1}));
}

TEST_F(GroupOrderTest, MessagesWithoutAGroupHaveNoOrder) {
  add("", Stage::ready, 9);
  add("", Stage::ready, 1);
  add("a", Stage::scheduled);
  EXPECT_EQ(claim_all(), (Ids{2, 1}));
}

TEST_F(GroupOrderTest, AnotherOrderFindsWhatIsThere) {
  const Handle one = add("a", Stage::ready, 9);
  add("a", Stage::ready, 1);
  lanes.set_order(GroupOrder::due);
  EXPECT_EQ(claim_all(), (Ids{2, 1}));
  add("a", Stage::ready, 1);
  lanes.set_order(GroupOrder::push);
  EXPECT_EQ(claim_all(), Ids{}) << "two are leased";
  go(one, Stage::ready);
  EXPECT_FALSE(lanes.order_permits(one));
}

// The naive rules: of each group a list of the messages in push order.
RC_GTEST_FIXTURE_PROP(GroupOrderTest, GoesByTheNaiveRules, ()) {
  std::map<Handle, std::string> there;
  const int steps = *rc::gen::inRange(1, 150);
  for (int step = 0; step < steps; ++step) {
    if (there.empty() || *rc::gen::inRange(0, 3) == 0) {
      const auto group = *rc::gen::element<std::string>("a", "b", "c");
      const Handle handle =
          add(group, *rc::gen::element(Stage::scheduled, Stage::ready, Stage::dead),
              *rc::gen::inRange<std::uint32_t>(0, 3), *rc::gen::inRange<std::int64_t>(0, 20));
      there[handle] = group;
    } else {
      const auto at =
          std::next(there.begin(), *rc::gen::inRange<int>(0, static_cast<int>(there.size())));
      const Handle handle = at->first;
      const Stage to = *rc::gen::element(Stage::scheduled, Stage::ready, Stage::leased, Stage::dead,
                                         Stage::free);
      if (to == slab[handle].stage()) continue;
      if (to == Stage::leased && !lanes.order_permits(handle)) continue;
      if (to == Stage::free) there.erase(at);
      go(handle, to);
    }
    std::map<std::string, std::map<std::uint64_t, Stage>> lines;
    for (const auto& [handle, group] : there) {
      if (slab[handle].stage() != Stage::dead) lines[group][slab[handle].id] = slab[handle].stage();
    }
    std::vector<std::uint64_t> may_go;
    for (const auto& [group, line] : lines) {
      const bool leased = std::ranges::any_of(
          line, [](const auto& entry) { return entry.second == Stage::leased; });
      if (!leased && line.begin()->second == Stage::ready) may_go.push_back(line.begin()->first);
    }
    RC_ASSERT((lanes.first() == kNoHandle) == may_go.empty());
    if (lanes.first() != kNoHandle) {
      RC_ASSERT(std::ranges::find(may_go, slab[lanes.first()].id) != may_go.end());
    }
    if (!lanes.has_groups()) continue;
    RC_ASSERT(lanes.groups()->ready_groups() - lanes.groups()->held_groups() == may_go.size());
  }
}

}  // namespace
}  // namespace tarry::embedded
