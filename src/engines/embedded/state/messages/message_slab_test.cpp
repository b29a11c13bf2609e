#include "engines/embedded/state/messages/message_slab.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "engines/embedded/state/messages/history_slab.h"

namespace tarry::embedded {
namespace {

Handle put(MessageSlab& slab, std::uint64_t id) {
  const Handle handle = slab.peek_free();
  Message& message = slab.place(handle);
  message.id = id;
  message.set_stage(Stage::scheduled);
  return handle;
}

TEST(MessageSlab, HandlesAreDenseAndTheLastFreedIsTakenFirst) {
  MessageSlab slab;
  EXPECT_EQ(put(slab, 1), 0u);
  EXPECT_EQ(put(slab, 2), 1u);
  EXPECT_EQ(put(slab, 3), 2u);
  slab.free(0);
  slab.free(1);
  EXPECT_EQ(put(slab, 4), 1u);
  EXPECT_EQ(put(slab, 5), 0u);
  EXPECT_EQ(put(slab, 6), 3u);
  EXPECT_EQ(slab.end(), 4u);
}

TEST(MessageSlab, ManyAreFreeAndEachIsTakenOnce) {
  MessageSlab slab;
  for (std::uint64_t id = 0; id < 1000; ++id) put(slab, id);
  for (Handle handle = 0; handle < 1000; ++handle) slab.free(handle * 7 % 1000);
  std::set<Handle> taken;
  for (std::uint64_t id = 0; id < 1000; ++id) taken.insert(put(slab, id));
  EXPECT_EQ(taken.size(), 1000u);
  EXPECT_EQ(slab.end(), 1000u);
  EXPECT_EQ(put(slab, 1000), 1000u);
}

TEST(MessageSlab, KnowsWhoIsThere) {
  MessageSlab slab;
  const Handle handle = put(slab, 7);
  EXPECT_TRUE(slab.is_live(handle));
  EXPECT_TRUE(slab.holds(handle, 7));
  EXPECT_FALSE(slab.holds(handle, 8));
  EXPECT_FALSE(slab.is_live(handle + 1));
  EXPECT_FALSE(slab.is_live(kNoHandle));
  slab.free(handle);
  EXPECT_FALSE(slab.is_live(handle));
  EXPECT_FALSE(slab.holds(handle, 7));
}

TEST(MessageSlab, ReplayTakesAnySlotAndTheFreeListIsMadeAfterwards) {
  MessageSlab slab;
  slab.begin_replay();
  slab.place(5).set_stage(Stage::ready);
  slab.place(2).set_stage(Stage::dead);
  slab.place(3).set_stage(Stage::scheduled);
  slab.free(3);
  slab.place(3).set_stage(Stage::leased);
  slab.free(3);
  slab.rebuild_free_list();
  std::set<Handle> taken;
  for (int i = 0; i < 4; ++i) taken.insert(put(slab, 1));
  EXPECT_EQ(taken, (std::set<Handle>{0, 1, 3, 4}));
  EXPECT_EQ(put(slab, 1), 6u);
}

TEST(Message, DueTimesOfFortyEightBits) {
  Message message;
  for (const std::int64_t due : {std::int64_t{0}, std::int64_t{0xFFFF'FFFF},
                                 std::int64_t{1'767'225'600'000}, (std::int64_t{1} << 48) - 1}) {
    message.set_due_ms(due);
    EXPECT_EQ(message.due_ms(), due);
  }
}

RC_GTEST_PROP(MessageSlab, IsAMapFromHandleToId, (const std::vector<std::uint8_t>& steps)) {
  MessageSlab slab;
  std::map<Handle, std::uint64_t> model;
  std::uint64_t id = 0;
  for (const std::uint8_t step : steps) {
    if (step % 3 != 0 || model.empty()) {
      const Handle handle = put(slab, ++id);
      RC_ASSERT(model.emplace(handle, id).second);
    } else {
      const auto at = std::next(model.begin(), static_cast<std::ptrdiff_t>(step % model.size()));
      slab.free(at->first);
      model.erase(at);
    }
    for (Handle handle = 0; handle < slab.end(); ++handle) {
      const auto found = model.find(handle);
      RC_ASSERT(slab.is_live(handle) == (found != model.end()));
      if (found != model.end()) RC_ASSERT(slab[handle].id == found->second);
    }
  }
}

TEST(HistorySlab, ReusesWhatWasFreedAndStartsItAnew) {
  HistorySlab slab;
  const HistoryHandle first = slab.allocate();
  const HistoryHandle second = slab.allocate();
  slab[first].attempt = 9;
  slab[second].attempt = 8;
  slab.free(first);
  const HistoryHandle again = slab.allocate();
  EXPECT_EQ(again, first);
  EXPECT_EQ(slab[again].attempt, 0u);
  EXPECT_EQ(slab[again].reason, 0u);
  EXPECT_EQ(slab[second].attempt, 8u);
  EXPECT_EQ(slab.allocate(), second + 1);
}

}  // namespace
}  // namespace tarry::embedded
