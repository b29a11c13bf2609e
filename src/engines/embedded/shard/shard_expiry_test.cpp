// Messages that expire: in slices, on a full disk, after a crash; and what they cost the others.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "storage/memory_storage.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

using test::OneShard;

constexpr std::size_t kExpirySlice = 2;

class ShardExpiry : public testing::Test {
 protected:
  static OneShard::Options options() {
    OneShard::Options options;
    options.segment_bytes = 64 << 10;
    options.slices.expiries = kExpirySlice;
    return options;
  }
  void open() { one_.emplace(disk_.root(), clock_, options()); }
  void push(const std::vector<std::string>& keys, std::optional<Millis> expire) {
    core::PushRequest request = test::push("q", keys);
    for (core::PushItem& item : request.items) item.expire = expire;
    ASSERT_TRUE(one_->ask(std::move(request)));
  }
  std::vector<std::uint64_t> claim(std::uint32_t max = 10) {
    std::vector<std::uint64_t> ids;
    const auto reply = one_->ask(test::claim("q", max));
    for (const auto& item : std::get<core::ClaimReply>(*reply).items) ids.push_back(item.id);
    return ids;
  }
  [[nodiscard]] const QueueState& queue() const { return one_->state().queue(0); }

  timing::ManualClock clock_;
  storage::MemoryDisk disk_;
  std::optional<OneShard> one_;
};

TEST_F(ShardExpiry, TheShardWakesUpForTheFirst) {
  open();
  push({"never"}, {});
  one_->settle();
  EXPECT_FALSE(one_->shard().next_realtime_ms());
  push({"a"}, Millis(5'000));
  push({"b"}, Millis(2'000));
  one_->settle();
  EXPECT_EQ(one_->shard().next_realtime_ms(), clock_.now().realtime_ms + 2'000);
  EXPECT_EQ(claim(), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_FALSE(one_->shard().next_realtime_ms());  // a leased message does not expire
}

// More messages have expired than one turn ends. No claim gets one, and a claim that waits gets the
// message behind them as soon as they have ended.
TEST_F(ShardExpiry, ComesInSlicesAndAClaimWaitsForThem) {
  open();
  push({"a", "b", "c", "d", "e"}, Millis(1'000));
  push({"last"}, {});
  ASSERT_TRUE(one_->ask(core::PauseRequest{"q", {}}));
  core::ClaimRequest waiting = test::claim("q", 10);
  waiting.wait = Millis(60'000);
  std::vector<std::string> receipts;
  one_->submit(waiting, [&](const Result<core::Reply>& reply) {
    ASSERT_TRUE(reply);
    receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
  });
  one_->settle();
  clock_.advance(1'000);
  one_->submit(core::ResumeRequest{"q"});
  one_->turn();  // two of them with the time, and two before the request
  EXPECT_EQ(queue().counters.expired, 2 * kExpirySlice);
  EXPECT_TRUE(receipts.empty());
  EXPECT_LE(*one_->shard().next_realtime_ms(), clock_.now().realtime_ms);
  one_->settle();
  EXPECT_EQ(queue().counters.expired, 5u);
  EXPECT_EQ(receipts.size(), 1u);
  EXPECT_EQ(queue().in(Stage::leased), 1u);
  EXPECT_TRUE(test::conserves(one_->state()));
}

TEST_F(ShardExpiry, LeavesNothingBehind) {
  open();
  push({"a", "b", "c"}, Millis(1'000));
  ASSERT_TRUE(one_->ask(test::cancel("q", "b")));
  clock_.advance(1'000);
  one_->settle();
  one_->settle();
  EXPECT_EQ(one_->state().pending(), 0u);
  EXPECT_EQ(one_->state().live.messages(), 0u);
  EXPECT_EQ(one_->state().own.next_to_expire(), kNoHandle);
}

TEST_F(ShardExpiry, IsTheSameAfterACrash) {
  open();
  push({"after"}, Millis(1'000));
  push({"never"}, {});
  core::PushRequest fixed = test::push("q", "fixed");
  fixed.items[0].expire_at = Time(Millis(clock_.now().realtime_ms + 9'000));
  ASSERT_TRUE(one_->ask(fixed));
  ASSERT_TRUE(one_->ask(test::reschedule("q", "after", Due::after(Millis(3'000)))));
  const std::string before = test::describe(one_->state());
  one_.reset();
  open();
  EXPECT_EQ(test::describe(one_->state()), before);
  EXPECT_EQ(one_->state().own.next_expiry_ms(), clock_.now().realtime_ms + 4'000);
  clock_.advance(4'000);
  one_->settle();
  EXPECT_EQ(queue().counters.expired, 1u);
  one_.reset();
  open();
  EXPECT_EQ(queue().counters.expired, 1u);
  EXPECT_EQ(claim(), (std::vector<std::uint64_t>{2, 3}));
}

}  // namespace
}  // namespace tarry::embedded
