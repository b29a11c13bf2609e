// How salvage treats records that contradict each other because something between them is lost.
#include <gtest/gtest.h>

#include <optional>

#include "storage/memory_storage.h"
#include "support/embedded/salvage.h"

namespace tarry::embedded {
namespace {

using test::Files;
using test::Held;
using test::held_in;
using test::Salvaged;
using test::store_with;

class Contradiction : public testing::Test {
 protected:
  using Segment = test::Segment;

  // Salvages two segments, of which the first is damaged at `at`.
  void damage(Segment first, Segment second, std::uint64_t at) {
    first.bytes()[at] ^= 1;
    Files files{{segment_name(1), first.bytes()}, {segment_name(2), second.bytes()}};
    source = store_with(files);
    salvaged.emplace(*source->root(), clock);
    ASSERT_TRUE(salvaged->report) << salvaged->report.error().message;
    ASSERT_FALSE(salvaged->told().sound);
    held = held_in(*salvaged->shard(), clock);
  }

  static GoneRecord acked(Handle handle, std::uint64_t id) {
    return {GoneWhy::acked, 0, {{handle, id}}};
  }

  static PutRecord put_into(std::uint32_t queue, Handle handle, std::uint64_t id,
                            std::string_view key) {
    PutRecord put = test::put(handle, id, key);
    put.queue = queue;
    return put;
  }
  static QueueRecord removed(std::uint32_t number, std::string_view name) {
    QueueRecord record = test::queue(number, name);
    record.removed = true;
    return record;
  }
  static QueueRecord freed(std::uint32_t number) { return removed(number, ""); }

  // The messages in that queue of the new store, one letter each.
  [[nodiscard]] std::string keys_of(std::string_view queue) const {
    const auto shard = salvaged->shard();
    const test::Recovery recovery(*shard, true, clock.boot_id(), clock.now());
    const QueueId id = recovery.state.queues.find(queue);
    if (id == kNoQueue) return "no such queue";
    std::string keys;
    for (const auto& [number, message] : held.messages) {
      for (Handle handle = 0; handle < recovery.state.slab.end(); ++handle) {
        if (recovery.holds(handle, number) && recovery.state.slab[handle].queue == id) {
          keys += message.text.substr(0, message.text.find('|'));
        }
      }
    }
    return keys;
  }

  timing::ManualClock clock;
  std::unique_ptr<storage::MemoryDisk> source;
  std::optional<Salvaged> salvaged;
  Held held;
};

TEST_F(Contradiction, APlaceThatWasGivenAgain) {
  Segment first(1);
  first.opening();
  first.batch({test::put(0, 1, "a")});
  const auto lost = first.batch({acked(0, 1)});
  first.batch({test::put(0, 2, "b")}, 2);
  Segment second(2, first.next_batch(), first.seal());
  second.opening(1, 4);
  damage(first, second, lost + 50);
  ASSERT_EQ(held.messages.size(), 1u);
  EXPECT_EQ(held.messages.at(2).text, "b||payload");
  EXPECT_EQ(salvaged->told().uncertain_messages, 0u);
}

TEST_F(Contradiction, AKeyThatWasGivenAgain) {
  Segment first(1);
  first.opening();
  first.batch({test::put(0, 1, "a", "old"), test::put(1, 2, "c")});
  const auto lost = first.batch({acked(0, 1)});
  first.batch({test::put(2, 3, "a", "new")}, 2);
  Segment second(2, first.next_batch(), first.seal());
  second.opening(1, 4);
  damage(first, second, lost + 50);
  ASSERT_EQ(held.messages.size(), 2u);
  EXPECT_EQ(held.messages.at(3).text, "a||new");
  EXPECT_EQ(salvaged->told().uncertain_messages, 1u);  // c
}

TEST_F(Contradiction, AMessageOfWhichOnlyOthersTell) {
  Segment first(1);
  first.opening();
  const auto lost = first.batch({test::put(0, 1, "a"), test::put(1, 2, "b")});
  first.batch({ClaimedRecord{0, 10, 10, {{{0, 1}, 1, 1}, {{1, 2}, 1, 1}}}});
  first.batch({acked(1, 2), LeaseRecord{0, {0, 1}, 20, 20}, StoppingRecord{0, {0, 1}}}, 3);
  Segment second(2, first.next_batch(), first.seal());
  second.opening(1, 4);
  damage(first, second, lost + 50);
  EXPECT_TRUE(held.messages.empty());
  EXPECT_EQ(salvaged->told().lost_messages, 1u);
  EXPECT_EQ(salvaged->told().lost_batches, 1u);
}

TEST_F(Contradiction, AQueueWhoseNameIsLost) {
  Segment first(1);
  first.opening();
  const auto lost = first.batch({test::queue(1, "orders")});
  PutRecord put = test::put(0, 1, "a");
  put.queue = 1;
  first.batch({put}, 1);
  Segment second(2, first.next_batch(), first.seal());
  second.batch({test::clock_record(), MarksRecord{2, 1}, test::queue(0, "q")}, 3);
  damage(first, second, lost + 50);
  ASSERT_EQ(held.messages.size(), 1u);
  EXPECT_NE(held.queues.find("queue salvaged-0-1 "), std::string::npos) << held.queues;
  EXPECT_EQ(salvaged->told().unnamed_queues, 1u);
}

// -- a number that was another queue's before

TEST_F(Contradiction, AQueueWhoseMakingIsLost) {
  Segment first(1);
  first.opening();
  first.batch({test::queue(1, "alpha"), put_into(1, 0, 1, "a")});
  first.batch({removed(1, "alpha")}, 2);
  first.batch({GoneRecord{GoneWhy::purged, 1, {{0, 1}}}, freed(1)}, 3);
  const auto lost = first.batch({test::queue(1, "beta"), put_into(1, 0, 2, "b")}, 4);
  first.batch({put_into(1, 1, 3, "c")}, 5);
  Segment second(2, first.next_batch(), first.seal());
  second.batch(
      {test::clock_record(), MarksRecord{4, 1}, test::queue(0, "q"), test::queue(1, "beta")}, 6);
  damage(first, second, lost + 50);
  EXPECT_EQ(keys_of("beta"), "c");
  EXPECT_EQ(salvaged->told().unnamed_queues, 0u);
}

TEST_F(Contradiction, AQueueWhoseMakingIsLostWithTheEndOfTheOneBefore) {
  Segment first(1);
  first.opening();
  first.batch({test::queue(1, "alpha"), put_into(1, 0, 1, "a"), put_into(1, 1, 2, "b")});
  const auto lost = first.batch({freed(1), test::queue(1, "beta")}, 2);
  first.batch({put_into(1, 2, 3, "c")}, 3);
  Segment second(2, first.next_batch(), first.seal());
  second.batch(
      {test::clock_record(), MarksRecord{4, 1}, test::queue(0, "q"), test::queue(1, "beta")}, 4);
  damage(first, second, lost + 50);
  EXPECT_EQ(keys_of("beta"), "c");
}

TEST_F(Contradiction, AMessageBehindTheRemovalOfItsNumbersQueue) {
  Segment first(1);
  first.opening();
  first.batch({test::queue(1, "alpha"), put_into(1, 0, 1, "a"), put_into(1, 1, 2, "b")});
  PutRecord copy = put_into(1, 1, 2, "b");
  copy.copy = true;
  first.batch({removed(1, "alpha"), copy}, 2);
  const auto lost = first.batch({freed(1), test::queue(1, "beta")}, 3);
  first.batch({put_into(1, 2, 3, "c")}, 4);
  Segment second(2, first.next_batch(), first.seal());
  second.batch({test::clock_record(), MarksRecord{4, 1}}, 5);
  damage(first, second, lost + 50);
  EXPECT_EQ(keys_of("salvaged-0-1"), "c");
  EXPECT_EQ(held.queues.find("alpha"), std::string::npos) << held.queues;
  EXPECT_EQ(salvaged->told().unnamed_queues, 1u);
}

TEST_F(Contradiction, AQueueThatWasMadeAgainUnderAnotherNumber) {
  Segment first(1);
  first.opening();
  first.batch({test::queue(1, "alpha"), put_into(1, 0, 1, "a")});
  const auto lost = first.batch({freed(1), test::queue(1, "beta")}, 2);
  first.batch({put_into(1, 1, 2, "b")}, 3);
  first.batch({test::queue(2, "alpha"), put_into(2, 2, 3, "c")}, 4);
  Segment second(2, first.next_batch(), first.seal());
  second.batch({test::clock_record(), MarksRecord{4, 1}}, 5);
  damage(first, second, lost + 50);
  EXPECT_EQ(keys_of("alpha"), "c");
  EXPECT_EQ(keys_of("salvaged-0-1"), "b");
}

TEST_F(Contradiction, ALeaseWhoseClaimIsLost) {
  Segment first(1);
  first.opening();
  first.batch({test::put(0, 1, "a")});
  const auto lost = first.batch({ClaimedRecord{0, 10, 10, {{{0, 1}, 1, 1}}}});
  first.batch({LeaseRecord{0, {0, 1}, 20, 20}, StoppingRecord{0, {0, 1}}}, 3);
  Segment second(2, first.next_batch(), first.seal());
  second.opening(1, 4);
  damage(first, second, lost + 50);
  ASSERT_EQ(held.messages.size(), 1u);
  EXPECT_NE(held.messages.at(1).line.find("stopping 0"), std::string::npos);
  EXPECT_EQ(held.messages.at(1).stage, Stage::scheduled);
}

// With sync=os, recovery cuts off batches after a tear if no batch states that they were durable.
TEST_F(Contradiction, BatchesBehindATear) {
  Segment only(1);
  only.opening();
  only.batch({test::put(0, 1, "a")});
  const auto lost = only.batch({test::put(1, 2, "b")});
  only.batch({test::put(2, 3, "c")});
  Files files{{segment_name(1), only.bytes()}};
  files.begin()->second[lost + 50] ^= 1;
  ASSERT_TRUE(test::Recovery(*test::disk_with(files)->root()).ok());
  source = store_with(files);
  salvaged.emplace(*source->root(), clock);
  ASSERT_TRUE(salvaged->report) << salvaged->report.error().message;
  EXPECT_FALSE(salvaged->told().sound);
  EXPECT_EQ(salvaged->told().lost_batches, 1u);
  ASSERT_EQ(salvaged->told().losses.size(), 1u);
  EXPECT_EQ(salvaged->told().losses[0].offset, lost);
  held = held_in(*salvaged->shard(), clock);
  ASSERT_EQ(held.messages.size(), 2u);
  EXPECT_TRUE(held.messages.contains(3));
  // A tail without any intact batch is no loss.
  files.begin()->second.resize(lost + 60);
  source = store_with(files);
  salvaged.emplace(*source->root(), clock);
  EXPECT_TRUE(salvaged->told().sound);
  EXPECT_GT(salvaged->told().torn_bytes, 0u);
}

TEST_F(Contradiction, SegmentsBelowTheMarkAreNotRead) {
  Segment first(1);
  first.opening();
  first.batch({test::put(0, 1, "ended long ago")});
  Segment second(2, first.next_batch(), first.seal());
  second.opening(2, 2);
  const auto lost = second.batch({test::put(0, 2, "lost")});
  second.batch({test::put(1, 3, "kept")}, 4);
  Segment third(3, second.next_batch(), second.seal());
  third.opening(2, 5);
  second.bytes()[lost + 50] ^= 1;
  source = store_with({{segment_name(1), first.bytes()},
                       {segment_name(2), second.bytes()},
                       {segment_name(3), third.bytes()}});
  salvaged.emplace(*source->root(), clock);
  ASSERT_TRUE(salvaged->report);
  held = held_in(*salvaged->shard(), clock);
  ASSERT_EQ(held.messages.size(), 1u);
  EXPECT_TRUE(held.messages.contains(3));
}

}  // namespace
}  // namespace tarry::embedded
