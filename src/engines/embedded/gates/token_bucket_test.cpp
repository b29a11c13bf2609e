#include "engines/embedded/gates/token_bucket.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "core/limits.h"

namespace tarry::embedded {
namespace {

using namespace std::chrono_literals;

TEST(TokenBucket, IsFullAtFirstAndComesBackAtTheRate) {
  TokenBucket bucket;
  EXPECT_TRUE(bucket.is_unlimited());
  bucket.set({10, 1s, 3});
  EXPECT_EQ(bucket.tokens(5'000), 3u);
  bucket.take(3);
  EXPECT_EQ(bucket.tokens(5'000), 0u);
  EXPECT_EQ(bucket.next_ms(5'000), 5'100);
  EXPECT_EQ(bucket.tokens(5'099), 0u);
  EXPECT_EQ(bucket.tokens(5'100), 1u);
  EXPECT_EQ(bucket.next_ms(5'100), 5'100);
  EXPECT_EQ(bucket.tokens(5'299), 2u);
  EXPECT_EQ(bucket.tokens(9'000), 3u);
}

TEST(TokenBucket, LosesNoPartOfATokenUnlessItIsFull) {
  TokenBucket bucket;
  bucket.set({3, 1s, 2});
  bucket.take(bucket.tokens(0));
  std::uint32_t taken = 0;
  for (std::int64_t ms = 1; ms <= 10'000; ++ms) {
    const std::uint32_t tokens = bucket.tokens(ms);
    EXPECT_EQ(tokens > 0, bucket.next_ms(ms) == ms);
    bucket.take(tokens);
    taken += tokens;
  }
  EXPECT_EQ(taken, 30u);
}

TEST(TokenBucket, TimeThatGoesBackBringsNothing) {
  TokenBucket bucket;
  bucket.set({1, 1s, 1});
  bucket.take(bucket.tokens(10'000));
  EXPECT_EQ(bucket.tokens(9'000), 0u);
  EXPECT_EQ(bucket.next_ms(9'000), 11'000);
  EXPECT_EQ(bucket.tokens(10'999), 0u);
  EXPECT_EQ(bucket.tokens(11'000), 1u);
}

TEST(TokenBucket, KeepsItsTokensForAnotherRate) {
  TokenBucket bucket;
  bucket.set({10, 1s, 10});
  bucket.take(4);
  bucket.set({1, 1h, 8});
  EXPECT_EQ(bucket.tokens(0), 6u);
  bucket.set({1, 1h, 2});
  EXPECT_EQ(bucket.tokens(0), 2u);
  bucket.set({1, 1h, 8});
  EXPECT_EQ(bucket.tokens(0), 2u);
  bucket.put_back(100);
  EXPECT_EQ(bucket.tokens(0), 8u);
}

TEST(TokenBucket, TheLargestRateDoesNotOverflow) {
  TokenBucket bucket;
  bucket.set({core::kMaxRateCount, Millis(core::kMaxRatePerMs), core::kMaxRateCount});
  bucket.take(core::kMaxRateCount);
  EXPECT_EQ(bucket.tokens(std::int64_t{1} << 50), core::kMaxRateCount);
  bucket.take(core::kMaxRateCount);
  EXPECT_EQ(bucket.next_ms(std::int64_t{1} << 50), (std::int64_t{1} << 50) + 605);
}

// In any stretch of time: at most the burst, plus what came back in it.
TEST(TokenBucket, HoldsInEveryWindow) {
  std::mt19937 random(7);
  const DeliveryRate rate{7, 100ms, 5};
  TokenBucket bucket;
  bucket.set(rate);
  std::deque<std::int64_t> taken;
  std::int64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += random() % 40;
    const std::uint32_t tokens = std::min<std::uint32_t>(bucket.tokens(now), random() % 4);
    bucket.take(tokens);
    for (std::uint32_t n = 0; n < tokens; ++n) taken.push_back(now);
    while (!taken.empty() && taken.front() < now - 1'000) taken.pop_front();
    for (std::size_t n = 0; n < taken.size(); ++n) {
      const auto elapsed = static_cast<double>(now - taken[n]);
      ASSERT_LE(static_cast<double>(taken.size() - n), 5 + elapsed * 7 / 100);
    }
  }
}

}  // namespace
}  // namespace tarry::embedded
