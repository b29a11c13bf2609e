// Reading ahead of claims: which records are read, how many, and that a wrong read does no harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "storage/memory_storage.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

using test::OneShard;

class ShardAhead : public testing::Test {
 protected:
  void SetUp() override { open(0); }

  void open(std::uint64_t recent_bytes) {
    OneShard::Options options{64 << 10, SyncPolicy::always, false};
    options.recent_bytes = recent_bytes;
    one.reset();
    disk = std::make_unique<storage::MemoryDisk>();
    one = std::make_unique<OneShard>(disk->root(), clock, options);
  }
  void push(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      payloads.push_back("payload " + std::to_string(payloads.size()));
      ASSERT_TRUE(one->ask(test::push("q", std::vector<std::string>{""}, Due(), payloads.back())));
    }
  }
  // Claims, and checks that each message is the expected next one.
  void claim(std::uint32_t count) {
    const auto reply = one->ask(test::claim("q", count));
    ASSERT_TRUE(reply) << reply.error().message;
    const auto& claimed = std::get<core::ClaimReply>(*reply);
    ASSERT_EQ(claimed.items.size(), count);
    for (const core::ClaimedItem& item : claimed.items) {
      EXPECT_EQ(core::view(claimed.bytes, item.payload), payloads.at(taken++));
    }
  }
  std::size_t look() { return one->shard().look_ahead().size(); }

  timing::ManualClock clock;
  std::unique_ptr<storage::MemoryDisk> disk;
  std::unique_ptr<OneShard> one;
  std::vector<std::string> payloads;
  std::size_t taken = 0;
};

TEST_F(ShardAhead, NothingBeforeAClaim) {
  push(10);
  EXPECT_EQ(look(), 0u);
}

TEST_F(ShardAhead, AsMuchAsTwoSuchClaimsTake) {
  push(600);
  claim(100);
  EXPECT_EQ(look(), 200u);
  EXPECT_EQ(look(), 0u);
  claim(100);
  EXPECT_EQ(look(), 100u);
  claim(200);
  EXPECT_EQ(look(), 200u);  // all there is
  claim(200);
  EXPECT_EQ(look(), 0u);
}

TEST_F(ShardAhead, OfSmallClaimsAnewWhenHalfIsLeft) {
  push(200);
  claim(1);
  EXPECT_EQ(look(), 64u);
  for (int i = 0; i < 31; ++i) {
    claim(1);
    EXPECT_EQ(look(), 0u);
  }
  claim(1);
  EXPECT_EQ(look(), 32u);
}

// A byte has changed in RAM; the file still has the message as it was pushed.
TEST_F(ShardAhead, WhatDoesNotCheckInRamIsAskedOfTheFileByTheNextClaim) {
  open(1 << 20);
  push(3);
  const auto batch = one->written_last();
  ASSERT_TRUE(batch);
  const std::size_t at = batch->bytes.find("payload 2");
  ASSERT_NE(at, std::string::npos);
  const_cast<std::string&>(batch->bytes)[at] = 'q';
  claim(2);
  const auto none = one->ask(test::claim("q", 1));
  ASSERT_TRUE(none);
  EXPECT_TRUE(std::get<core::ClaimReply>(*none).items.empty());
  ASSERT_EQ(one->lines().size(), 1u);
  EXPECT_NE(one->lines()[0].find("memory"), std::string::npos) << one->lines()[0];
  clock.advance(QueueSettings().lease.count());
  const auto again = one->ask(test::claim("q", 10));
  ASSERT_TRUE(again);
  const auto& claimed = std::get<core::ClaimReply>(*again);
  ASSERT_EQ(claimed.items.size(), 3u);
  std::vector<std::string> came;
  for (const core::ClaimedItem& item : claimed.items) {
    came.emplace_back(core::view(claimed.bytes, item.payload));
  }
  std::ranges::sort(came);
  EXPECT_EQ(came, payloads);
  EXPECT_EQ(one->lines().size(), 1u);
}

TEST_F(ShardAhead, NotWhatIsStillInRam) {
  open(1 << 20);
  push(200);
  claim(50);
  EXPECT_EQ(look(), 0u);
}

TEST_F(ShardAhead, WhatIsClaimedIsRightWhateverWasReadAhead) {
  push(300);
  claim(40);
  one->read_ahead();
  claim(40);
  // These places are too short for the records, so the claim reads the records again.
  std::vector<RecordPlace> wrong;
  for (Handle handle = 0; handle < 300; ++handle) {
    const Message& message = one->state().slab[handle];
    const std::uint64_t segment = message.position.segment(one->journal().newest_segment());
    wrong.push_back({segment, Position(segment, message.position.offset(), 4)});
  }
  one->read_ahead(wrong);
  claim(220);
}

}  // namespace
}  // namespace tarry::embedded
