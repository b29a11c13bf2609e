// A shard's knowledge about queues that another shard has lost.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/embedded/store/key_route.h"
#include "storage/memory_storage.h"
#include "support/embedded/salvage.h"

namespace tarry::embedded {
namespace {

using test::Machine;
using test::Segment;

// A store of two shards, of which the second is damaged.
class SalvageShards : public testing::Test {
 protected:
  static constexpr StoreIdentity kTwo{kFormatVersion, 2, test::kStoreId, 0x5EED};

  static Segment second_shards() {
    Segment segment(1);
    segment.header().shard = 1;
    segment.rewrite_header();
    return segment;
  }

  static std::vector<std::string> keys_of_second(std::string_view queue, std::size_t count) {
    std::vector<std::string> keys;
    for (int i = 0; keys.size() < count; ++i) {
      const std::string key = "k" + std::to_string(i);
      if (shard_for_key(kTwo, queue, key) == 1) keys.push_back(key);
    }
    return keys;
  }

  static void push(Segment& segment, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
      const Handle handle = static_cast<Handle>(&key - keys.data());
      segment.batch({test::put(handle, 2 * handle + 3, key)});
    }
    segment.batch({ClosedRecord{}}, segment.next_batch() - 1);
  }

  void salvage_of(const Segment& first, const Segment& second) {
    const auto root = source.root();
    ASSERT_TRUE(write_identity(*root, kTwo));
    store(*root->subdirectory("shard-000", false).value(), first);
    store(*root->subdirectory("shard-001", false).value(), second);
    SalvageOptions options;
    options.clock = std::make_shared<Machine>(clock);
    options.segment_bytes = 4096;
    auto done = salvage(*root, *target.root(), options);
    ASSERT_TRUE(done) << done.error().message;
    report = *done;
    ASSERT_TRUE(report.per_shard.at(0).sound);
    ASSERT_FALSE(report.per_shard.at(1).sound);
  }

  // A shard of the new store.
  std::unique_ptr<ShardState> shard(std::uint32_t number) {
    ShardState::Identity identity = test::Recovery::identity(clock.boot_id());
    identity.shard = number;
    identity.shards = 2;
    auto state = std::make_unique<ShardState>(identity, clock.now());
    state->begin_replay();
    SegmentFiles files;
    RecoveryOptions options;
    options.store_id = test::kStoreId;
    options.hash_seed = test::kHashSeed;
    options.shard = number;
    options.read_only = true;
    const auto directory = target.root()->subdirectory(shard_directory_name(number), false);
    const auto recovered = recover(**directory, files, *state, options);
    EXPECT_TRUE(recovered) << recovered.error().message;
    return state;
  }

  timing::ManualClock clock;
  storage::MemoryDisk source;
  storage::MemoryDisk target;
  SalvageReport report;
};

class SalvageNames : public SalvageShards {
 protected:
  // Damages the second shard's opening, which names its queue.
  void lose_name(const std::vector<std::string>& keys) {
    Segment first(1);
    first.batch({test::clock_record(), MarksRecord{1, 1}, test::queue(0, "other"),
                 test::queue(1, "orders"), test::queue(2, "more")});
    Segment second = second_shards();
    const auto lost = second.batch({test::clock_record(), test::queue(0, "orders")});
    push(second, keys);
    second.bytes()[lost + 50] ^= 1;
    salvage_of(first, second);
    told = report.per_shard.at(1);
    EXPECT_EQ(told.messages, keys.size());
    const auto state = shard(1);
    name = state->queue(0).name;
  }

  [[nodiscard]] bool all_belong(const std::vector<std::string>& keys) const {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const std::string& key) { return shard_for_key(kTwo, name, key) == 1; });
  }

  SalvagedShard told;
  std::string name;
};

TEST_F(SalvageNames, AreFoundByTheKeys) {
  lose_name(keys_of_second("orders", 20));
  EXPECT_EQ(name, "orders");
  EXPECT_EQ(told.unnamed_queues, 0u);
  EXPECT_EQ(told.unreachable_messages, 0u);
}

TEST_F(SalvageNames, ThatFitByChanceAreNotTaken) {
  const auto keys = keys_of_second("orders", 5);
  lose_name(keys);
  EXPECT_TRUE(name.starts_with("salvaged-1-0")) << name;
  EXPECT_TRUE(all_belong(keys)) << name;
  EXPECT_EQ(told.unnamed_queues, 1u);
  EXPECT_EQ(told.unreachable_messages, 0u);
}

TEST_F(SalvageNames, ThatNobodyKnows) {
  const auto keys = keys_of_second("gone everywhere", 40);
  lose_name(keys);
  EXPECT_EQ(name, "salvaged-1-0");
  EXPECT_EQ(told.unnamed_queues, 1u);
  EXPECT_GT(told.unreachable_messages, 5u);
  EXPECT_LT(told.unreachable_messages, 35u);
}

// Keys with the same {tag} belong to the same shard, so together they tell no more than one key.
TEST_F(SalvageNames, AreNotFoundByOneTag) {
  std::vector<std::string> keys;
  const std::string tag = "{" + keys_of_second("orders", 1).front() + "}";
  for (int i = 0; i < 20; ++i) keys.push_back(tag + std::to_string(i));
  lose_name(keys);
  EXPECT_TRUE(name.starts_with("salvaged-1-0")) << name;
  EXPECT_TRUE(all_belong(keys)) << name;
}

class SalvageSettings : public SalvageShards {
 protected:
  static QueueRecord paused_orders() {
    QueueRecord record = test::queue(0, "orders");
    record.paused = true;
    record.settings.max_attempts = 2;
    return record;
  }
  static Segment first_shards() {
    Segment first(1);
    first.batch({test::clock_record(), MarksRecord{1, 1}, paused_orders()});
    return first;
  }
  void expect_paused() {
    const auto state = shard(1);
    const QueueId id = state->queues.find("orders");
    ASSERT_NE(id, kNoQueue);
    EXPECT_TRUE(state->queue(id).paused);
    EXPECT_EQ(state->queue(id).settings.max_attempts, 2u);
    EXPECT_EQ(report.per_shard.at(0).adopted_queues, 0u);
    EXPECT_EQ(report.per_shard.at(1).adopted_queues, 1u);
  }
};

TEST_F(SalvageSettings, AreThoseOfTheShardThatHasLostNothing) {
  Segment second = second_shards();
  second.batch({test::clock_record(), MarksRecord{1, 1}, test::queue(0, "orders")});
  const auto lost = second.batch({paused_orders()});
  push(second, {"a"});
  second.bytes()[lost + 50] ^= 1;
  salvage_of(first_shards(), second);
  expect_paused();
}

TEST_F(SalvageSettings, OfAQueueThatAShardHasLost) {
  Segment second = second_shards();
  const auto lost = second.batch({test::clock_record(), MarksRecord{1, 1}, paused_orders()});
  second.batch({MarksRecord{1, 1}});
  second.batch({ClosedRecord{}}, 2);
  second.bytes()[lost + 50] ^= 1;
  salvage_of(first_shards(), second);
  expect_paused();
}

}  // namespace
}  // namespace tarry::embedded
