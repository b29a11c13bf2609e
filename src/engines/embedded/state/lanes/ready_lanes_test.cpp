#include "engines/embedded/state/lanes/ready_lanes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <tuple>

namespace tarry::embedded {
namespace {

using Order = std::tuple<std::uint32_t, std::int64_t, std::uint64_t>;  // priority, due, id

class ReadyLanesTest : public testing::Test {
 protected:
  Handle add(std::uint32_t priority, std::int64_t due_ms, std::uint64_t id = 0) {
    const Handle handle = slab.peek_free();
    Message& message = slab.place(handle);
    message.set_stage(Stage::ready);
    message.id = id != 0 ? id : ++ids;
    message.priority = priority;
    message.set_due_ms(due_ms);
    lanes.insert(handle);
    return handle;
  }
  Order order(Handle handle) const {
    return {slab[handle].priority, slab[handle].due_ms(), slab[handle].id};
  }
  Order take_first() {
    const Handle first = lanes.first();
    const Order order_of = order(first);
    lanes.remove(first);
    slab.free(first);
    return order_of;
  }

  MessageSlab slab;
  HandleBlocks blocks;
  ReadyLanes lanes{slab, blocks};
  std::uint64_t ids = 0;
};

TEST_F(ReadyLanesTest, EmptyHasNoFirst) {
  EXPECT_TRUE(lanes.empty());
  EXPECT_EQ(lanes.first(), kNoHandle);
}

TEST_F(ReadyLanesTest, PriorityThenDueThenPushOrder) {
  add(2, 10);
  add(1, 30);
  add(1, 20);  // a straggler
  add(1, 30);
  std::vector<Order> got;
  while (!lanes.empty()) got.push_back(take_first());
  EXPECT_EQ(got, (std::vector<Order>{{1, 20, 3}, {1, 30, 2}, {1, 30, 4}, {2, 10, 1}}));
}

TEST_F(ReadyLanesTest, VisitsWhatStandsBehindTheFirst) {
  for (int i = 0; i < 3; ++i) add(1, 10 + i);
  for (int i = 0; i < 3; ++i) add(2, 5 + i);
  add(1, 5);  // a straggler
  std::vector<Order> got;
  const auto some = [&](std::size_t count) {
    return [&, count](Handle handle) {
      got.push_back(order(handle));
      return got.size() < count;
    };
  };
  lanes.visit_behind(2, some(3));
  EXPECT_EQ(got, (std::vector<Order>{{1, 12, 3}, {2, 5, 4}, {2, 6, 5}}));
  got.clear();
  lanes.visit_behind(5, some(3));
  EXPECT_EQ(got, (std::vector<Order>{{2, 7, 6}}));
  got.clear();
  lanes.visit_behind(6, some(3));
  EXPECT_TRUE(got.empty());
}

// A released message is added again with the due time and id that it had.
TEST_F(ReadyLanesTest, AStragglerOfEqualDueGoesByItsId) {
  add(1, 10, 5);
  add(1, 10, 7);
  add(1, 10, 6);
  EXPECT_EQ(std::get<2>(take_first()), 5u);
  EXPECT_EQ(std::get<2>(take_first()), 6u);
  EXPECT_EQ(std::get<2>(take_first()), 7u);
}

TEST_F(ReadyLanesTest, OldestDueIsOfAllLanes) {
  add(1, 30);
  add(9, 10);
  EXPECT_EQ(lanes.oldest_due_ms(), 10);
}

TEST_F(ReadyLanesTest, RemovesWhatIsDueLaterFromListAndHeap) {
  const Handle stays = add(1, 10);
  const Handle last = add(1, 40);
  const Handle straggler = add(1, 30);
  const Handle edge = add(1, 20);  // exactly now is due
  std::set<Handle> removed;
  lanes.remove_later_than(20, [&](Handle handle) { removed.insert(handle); });
  EXPECT_EQ(removed, (std::set<Handle>{last, straggler}));
  EXPECT_EQ(lanes.size(), 2u);
  EXPECT_EQ(lanes.first(), stays);
  lanes.remove(stays);
  EXPECT_EQ(lanes.first(), edge);
  lanes.remove_later_than(0, [](Handle) {});
  EXPECT_TRUE(lanes.empty());
}

RC_GTEST_FIXTURE_PROP(ReadyLanesTest, IsASetInOrder,
                      (const std::vector<std::tuple<std::uint8_t, std::uint8_t>>& steps)) {
  std::set<std::pair<Order, Handle>> model;
  for (const auto& [kind, value] : steps) {
    switch (kind % 6) {
      case 0:
        if (!model.empty()) {
          RC_ASSERT(lanes.first() == model.begin()->second);
          take_first();
          model.erase(model.begin());
        }
        break;
      case 1:
        if (!model.empty()) {
          const auto any =
              std::next(model.begin(), static_cast<std::ptrdiff_t>(value % model.size()));
          lanes.remove(any->second);
          slab.free(any->second);
          model.erase(any);
        }
        break;
      case 2: {
        const std::int64_t now = value / 4;
        std::set<Handle> expected;
        std::erase_if(model, [&](const auto& entry) {
          if (std::get<1>(entry.first) <= now) return false;
          expected.insert(entry.second);
          return true;
        });
        std::set<Handle> removed;
        lanes.remove_later_than(now, [&](Handle handle) { removed.insert(handle); });
        RC_ASSERT(removed == expected);
        for (const Handle handle : removed) slab.free(handle);
        break;
      }
      default: {
        const Handle handle = add(kind % 2, value / 4);
        model.emplace(order(handle), handle);
        break;
      }
    }
    RC_ASSERT(lanes.size() == model.size());
    RC_ASSERT(lanes.empty() == model.empty());
    if (model.empty()) continue;
    RC_ASSERT(lanes.first() == model.begin()->second);
    std::int64_t oldest = INT64_MAX;
    for (const auto& [of, handle] : model) oldest = std::min(oldest, std::get<1>(of));
    RC_ASSERT(lanes.oldest_due_ms() == oldest);
  }
}

}  // namespace
}  // namespace tarry::embedded
