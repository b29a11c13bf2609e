#include "engines/embedded/state/messages/handle_list.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace tarry::embedded {
namespace {

std::vector<Handle> forwards(const HandleBlocks& blocks, const HandleList& list) {
  std::vector<Handle> all;
  for (std::uint32_t at = list.head(); at != HandleBlocks::kNone; at = blocks[at].next) {
    blocks[at].visit([&](Handle handle) {
      all.push_back(handle);
      return true;
    });
  }
  return all;
}

std::vector<Handle> backwards(const HandleBlocks& blocks, const HandleList& list) {
  std::vector<Handle> all;
  for (std::uint32_t at = list.tail(); at != HandleBlocks::kNone; at = blocks[at].prev) {
    blocks[at].visit_backwards([&](Handle handle) {
      all.push_back(handle);
      return true;
    });
  }
  return all;
}

TEST(HandleList, KeepsTheOrderOfManyBlocks) {
  HandleBlocks blocks;
  HandleList list;
  std::vector<Handle> expected;
  for (Handle handle = 100; handle < 200; ++handle) {
    list.append(blocks, handle);
    expected.push_back(handle);
  }
  EXPECT_EQ(list.first(blocks), 100u);
  EXPECT_EQ(list.last(blocks), 199u);
  EXPECT_EQ(forwards(blocks, list), expected);
}

TEST(HandleList, AVisitEndsWhereItIsToldTo) {
  HandleBlocks blocks;
  HandleList list;
  for (Handle handle = 0; handle < 5; ++handle) list.append(blocks, handle);
  std::vector<Handle> seen;
  const auto until_two = [&](Handle handle) {
    seen.push_back(handle);
    return handle != 2;
  };
  EXPECT_FALSE(blocks[list.head()].visit(until_two));
  EXPECT_EQ(seen, (std::vector<Handle>{0, 1, 2}));
  seen.clear();
  EXPECT_FALSE(blocks[list.head()].visit_backwards(until_two));
  EXPECT_EQ(seen, (std::vector<Handle>{4, 3, 2}));
}

TEST(HandleList, EmptiedBlocksServeOtherLists) {
  HandleBlocks blocks;
  HandleList list;
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::uint32_t> places;
    for (Handle handle = 0; handle < 100; ++handle) places.push_back(list.append(blocks, handle));
    for (Handle handle = 0; handle < 100; ++handle) list.remove(blocks, places[handle], handle);
    EXPECT_TRUE(list.empty());
  }
  EXPECT_EQ(blocks.bytes(), 256u * 64u);  // one chunk of them: 8 blocks hold 100 handles
}

TEST(HandleListDeathTest, AHandleThatIsNotThereIsNotTakenOut) {
  HandleBlocks blocks;
  HandleList list;
  const std::uint32_t place = list.append(blocks, 7);
  list.append(blocks, 8);
  EXPECT_DEATH(list.remove(blocks, place, 8), "");
  list.remove(blocks, place, 7);
  EXPECT_DEATH(list.remove(blocks, place, 7), "");
}

RC_GTEST_PROP(HandleListModel, TwoListsInOneSetOfBlocks,
              (const std::vector<std::uint16_t>& steps)) {
  HandleBlocks blocks;
  HandleList lists[2];
  // Each handle and its place. Handles rise in the order of appending.
  std::map<Handle, std::uint32_t> models[2];
  Handle next = 0;
  for (const std::uint16_t step : steps) {
    HandleList& list = lists[step % 2];
    std::map<Handle, std::uint32_t>& model = models[step % 2];
    if (step % 8 < 5 || model.empty()) {
      for (int i = step % 20; i >= 0; --i, ++next) model[next] = list.append(blocks, next);
    } else {
      for (int i = step % 50; i >= 0 && !model.empty(); --i) {
        const auto chosen =
            std::next(model.begin(), static_cast<std::ptrdiff_t>(step % model.size()));
        list.remove(blocks, chosen->second, chosen->first);
        model.erase(chosen);
      }
    }
    RC_ASSERT(list.empty() == model.empty());
    if (model.empty()) continue;
    RC_ASSERT(list.first(blocks) == model.begin()->first);
    RC_ASSERT(list.last(blocks) == model.rbegin()->first);
    std::vector<Handle> expected;
    for (const auto& [handle, place] : model) expected.push_back(handle);
    RC_ASSERT(forwards(blocks, list) == expected);
    RC_ASSERT(backwards(blocks, list) == std::vector<Handle>(expected.rbegin(), expected.rend()));
  }
}

}  // namespace
}  // namespace tarry::embedded
