#include "engines/embedded/state/lanes/queue_lanes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <tuple>

namespace tarry::embedded {
namespace {

using Order = std::tuple<std::uint32_t, std::int64_t, std::uint64_t>;  // priority, due, id

class QueueLanesTest : public testing::Test {
 protected:
  /// `group`: empty: none.
  Handle add(const std::string& group, std::uint32_t priority, std::int64_t due_ms) {
    const Handle handle = slab.peek_free();
    Message& message = slab.place(handle);
    message.id = ++ids;
    message.priority = priority;
    message.set_due_ms(due_ms);
    if (!group.empty()) lanes.join(handle, group, GroupOrder::due);
    message.set_stage(Stage::ready);
    lanes.insert(handle);
    return handle;
  }
  void drop(Handle handle) {
    lanes.remove(handle);
    if (lanes.has_groups()) lanes.groups()->note_stage(handle, Stage::ready, Stage::free, false);
    slab.free(handle);
  }
  /// Claims a message, and forgets it: its group, or its id if it has none.
  std::string claim() {
    const Handle first = lanes.first();
    const Group* const group = lanes.group_of(first);
    const std::string text = group != nullptr ? *group->name : std::to_string(slab[first].id);
    lanes.pass();
    drop(first);
    return text;
  }
  std::vector<std::string> claim_all() {
    std::vector<std::string> claimed;
    while (lanes.first() != kNoHandle) claimed.push_back(claim());
    return claimed;
  }

  MessageSlab slab;
  HandleBlocks blocks;
  QueueLanes lanes{slab, blocks};
  std::uint64_t ids = 0;
};

TEST_F(QueueLanesTest, GroupsTakeTurns) {
  for (int i = 0; i < 4; ++i) add("a", 1, 10);
  for (int i = 0; i < 2; ++i) add("b", 9, 20);
  add("c", 0, 30);
  EXPECT_EQ(claim_all(), (std::vector<std::string>{"a", "b", "c", "a", "b", "a", "a"}));
  EXPECT_TRUE(lanes.empty());
  EXPECT_EQ(lanes.groups()->ready_groups(), 0u);
}

TEST_F(QueueLanesTest, ThoseWithoutAGroupTakeTheirTurnsTogether) {
  add("", 1, 10);
  add("", 0, 10);
  add("a", 1, 10);
  add("a", 1, 10);
  EXPECT_EQ(claim_all(), (std::vector<std::string>{"2", "a", "1", "a"}));
}

TEST_F(QueueLanesTest, AHeldGroupLeavesTheTurnUntilItIsAdmittedAgain) {
  for (int i = 0; i < 2; ++i) add("a", 1, 10);
  for (int i = 0; i < 2; ++i) add("b", 1, 10);
  lanes.groups()->hold(*lanes.group_of(lanes.first()));
  EXPECT_EQ(claim(), "b");
  add("a", 1, 10);
  EXPECT_EQ(claim(), "b");
  EXPECT_EQ(lanes.first(), kNoHandle);
  EXPECT_EQ(lanes.size(), 3u);
  EXPECT_EQ(lanes.groups()->held_groups(), 1u);
  lanes.groups()->readmit("a");
  lanes.groups()->readmit("none of this name");
  EXPECT_EQ(claim_all(), (std::vector<std::string>{"a", "a", "a"}));
}

TEST_F(QueueLanesTest, AGroupEndsWithItsMessagesAndLeases) {
  const Handle one = add("a", 1, 10);
  Group& group = *lanes.group_of(one);
  lanes.groups()->note_freed(group);
  drop(one);
  const auto freed = lanes.groups()->take_freed();
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_EQ(freed[0].group, "a");
  EXPECT_EQ(freed[0].leases, 1u);
  EXPECT_TRUE(lanes.groups()->take_freed().empty());
  EXPECT_TRUE(lanes.groups()->counted().empty());
}

// All 999 that have one message each are served within two turns each of the noisy one.
TEST_F(QueueLanesTest, ANoisyGroupStarvesNobody) {
  for (int i = 0; i < 20'000; ++i) add("noisy", 1, 10);
  for (int i = 0; i < 999; ++i) add("quiet " + std::to_string(i), 5, 20);
  std::size_t quiet = 0;
  for (int claims = 0; claims < 2 * 999 + 1; ++claims) quiet += claim() == "noisy" ? 0 : 1;
  EXPECT_EQ(quiet, 999u);
  EXPECT_EQ(lanes.size(), 20'000u + 999 - (2 * 999 + 1));
}

// The naive rules: each group has a sorted set, and the turn is a list of names.
RC_GTEST_FIXTURE_PROP(QueueLanesTest, GoesByTheNaiveRules, ()) {
  struct Naive {
    std::map<std::string, std::set<std::pair<Order, Handle>>> ready;
    std::list<std::string> turn;
    std::set<std::string> held;
    void join(const std::string& group) {
      if (!held.contains(group) && std::ranges::find(turn, group) == turn.end()) {
        turn.push_back(group);
      }
    }
    void remove(const std::string& group, std::pair<Order, Handle> entry) {
      ready[group].erase(entry);
      if (!ready[group].empty()) return;
      turn.remove(group);
      held.erase(group);
    }
  } naive;
  std::map<Handle, std::pair<std::string, Order>> there;
  const int steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    const int kind = *rc::gen::inRange(0, 10);
    if (kind < 5 || there.empty()) {
      const auto group = *rc::gen::element<std::string>("", "a", "b", "c", "d");
      const Handle handle = add(group, *rc::gen::inRange<std::uint32_t>(0, 3),
                                *rc::gen::inRange<std::int64_t>(0, 20));
      const Order order{slab[handle].priority, slab[handle].due_ms(), slab[handle].id};
      naive.ready[group].emplace(order, handle);
      // Before the first group there is no turn; those without a group then begin it.
      naive.join(group);
      there[handle] = {group, order};
    } else if (kind < 8) {
      if (lanes.first() == kNoHandle) continue;
      const std::string group = naive.turn.front();
      const auto entry = *naive.ready[group].begin();
      RC_ASSERT(lanes.first() == entry.second);
      naive.turn.splice(naive.turn.end(), naive.turn, naive.turn.begin());
      naive.remove(group, entry);
      there.erase(entry.second);
      lanes.pass();
      drop(entry.second);
    } else if (kind == 8) {
      const auto at =
          std::next(there.begin(), *rc::gen::inRange<int>(0, static_cast<int>(there.size())));
      naive.remove(at->second.first, {at->second.second, at->first});
      drop(at->first);
      there.erase(at);
    } else if (lanes.has_groups() && *rc::gen::arbitrary<bool>()) {
      lanes.groups()->readmit_all();
      for (const auto& [group, ready] : naive.ready) {
        if (naive.held.contains(group)) naive.turn.push_back(group);
      }
      // In which order is not promised: take over what came out.
      std::list<std::string> turn;
      for (const Group* group = lanes.groups()->front(); group != nullptr; group = group->next) {
        turn.push_back(group->name != nullptr ? *group->name : "");
      }
      auto before = naive.turn;
      auto after = turn;
      before.sort();
      after.sort();
      RC_ASSERT(before == after);
      naive.turn = turn;
      naive.held.clear();
    } else if (lanes.first() != kNoHandle && lanes.group_of(lanes.first()) != nullptr) {
      const std::string group = naive.turn.front();
      lanes.groups()->hold(*lanes.group_of(lanes.first()));
      naive.turn.pop_front();
      naive.held.insert(group);
    }
    RC_ASSERT(lanes.size() == there.size());
    RC_ASSERT((lanes.first() == kNoHandle) == naive.turn.empty());
    if (there.empty()) continue;
    std::int64_t oldest = 1'000;
    for (const auto& [handle, entry] : there)
      oldest = std::min<std::int64_t>(oldest, slab[handle].due_ms());
    RC_ASSERT(lanes.oldest_due_ms() == oldest);
  }
}

TEST_F(QueueLanesTest, AStepBackTakesOutWhatIsDueLater) {
  add("a", 1, 10);
  add("a", 1, 30);
  add("b", 1, 40);
  add("", 1, 50);
  add("", 1, 5);
  std::vector<std::int64_t> removed;
  lanes.remove_later_than(20, [&](Handle handle) { removed.push_back(slab[handle].due_ms()); });
  std::ranges::sort(removed);
  EXPECT_EQ(removed, (std::vector<std::int64_t>{30, 40, 50}));
  EXPECT_EQ(lanes.size(), 2u);
  EXPECT_EQ(claim_all(), (std::vector<std::string>{"a", "5"}));
}

}  // namespace
}  // namespace tarry::embedded
