#include "server/limits/rate_bucket.h"

#include <gtest/gtest.h>

namespace tarry::limits {
namespace {

using std::chrono::milliseconds;
using Clock = RateBucket::Clock;

class RateBucketTest : public ::testing::Test {
 protected:
  // Takes as many permits as there are, at most `most`.
  std::uint64_t drain(std::uint64_t rate, std::uint64_t most = 1'000) {
    std::uint64_t taken = 0;
    while (taken < most && bucket_.wait(now_, rate) == Clock::duration::zero()) {
      bucket_.take(now_, rate);
      ++taken;
    }
    return taken;
  }

  RateBucket bucket_;
  Clock::time_point now_ = Clock::time_point(std::chrono::hours(5));
};

TEST_F(RateBucketTest, holds_the_permits_of_a_second) {
  for (const std::uint64_t rate : {1u, 3u, 10u, 999u}) {
    bucket_ = {};
    EXPECT_EQ(drain(rate, 2'000), rate);
  }
}

TEST_F(RateBucketTest, gives_a_permit_back_at_its_rate_and_not_before) {
  EXPECT_EQ(drain(10), 10u);
  EXPECT_EQ(bucket_.wait(now_, 10), milliseconds(100));
  now_ += milliseconds(99);
  EXPECT_EQ(drain(10), 0u);
  EXPECT_EQ(bucket_.wait(now_, 10), milliseconds(1));
  now_ += milliseconds(1);
  EXPECT_EQ(drain(10), 1u);
  now_ += milliseconds(250);
  EXPECT_EQ(drain(10), 2u);
  now_ += milliseconds(50);
  EXPECT_EQ(drain(10), 1u);
}

TEST_F(RateBucketTest, is_full_again_after_a_second_and_never_fuller) {
  EXPECT_TRUE(bucket_.is_unused());
  EXPECT_EQ(drain(4), 4u);
  EXPECT_FALSE(bucket_.is_unused());
  now_ += milliseconds(999);
  EXPECT_FALSE(bucket_.is_full(now_));
  now_ += milliseconds(1);
  EXPECT_TRUE(bucket_.is_full(now_));
  now_ += std::chrono::hours(100);
  EXPECT_EQ(drain(4), 4u);
}

// Requests that settle are counted even if they are over the limit. If that made a debt, they could
// lock their client out for longer than a second.
TEST_F(RateBucketTest, makes_no_debt) {
  for (int i = 0; i < 1'000; ++i) bucket_.take(now_, 5);
  EXPECT_EQ(bucket_.wait(now_, 5), milliseconds(200));
  now_ += milliseconds(1'000);
  EXPECT_EQ(drain(5), 5u);
}

TEST_F(RateBucketTest, takes_another_rate_at_once) {
  EXPECT_EQ(drain(2), 2u);
  EXPECT_EQ(bucket_.wait(now_, 1'000), milliseconds(1));
  now_ += milliseconds(500);
  EXPECT_EQ(drain(1'000), 500u);
  EXPECT_EQ(bucket_.wait(now_, 1), milliseconds(1'000));
}

TEST_F(RateBucketTest, tells_how_many_permits_are_taken) {
  EXPECT_EQ(bucket_.taken(now_, 10), 0u);
  EXPECT_EQ(drain(10, 3), 3u);
  EXPECT_EQ(bucket_.taken(now_, 10), 3u);
  now_ += milliseconds(150);
  EXPECT_EQ(bucket_.taken(now_, 10), 2u);
  now_ += milliseconds(151);
  EXPECT_EQ(bucket_.taken(now_, 10), 0u);
}

TEST_F(RateBucketTest, keeps_the_highest_rate) {
  EXPECT_EQ(drain(1'000'000, 2'000'000), 1'000'000u);
  now_ += std::chrono::microseconds(7);
  EXPECT_EQ(drain(1'000'000), 7u);
}

}  // namespace
}  // namespace tarry::limits
