#include "server/session_parts/token_failures.h"

#include <string>

#include <gtest/gtest.h>

namespace tarry::session {
namespace {

using std::chrono::milliseconds;
constexpr std::size_t kMostFailures = TokenFailures::kMostFailures;

struct Failing : ::testing::Test {
  /// How many of `tries` failures are not too many.
  std::size_t counted(std::string_view peer, std::size_t tries) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < tries; ++i) count += failures.too_many(peer, now) ? 0 : 1;
    return count;
  }
  TokenFailures failures;
  TokenFailures::Clock::time_point now{};
};

TEST_F(Failing, a_peer_is_told_to_slow_down_after_so_many) {
  EXPECT_EQ(counted("a", kMostFailures), kMostFailures);
  EXPECT_EQ(counted("a", 100), 0u);
  EXPECT_EQ(counted("b", 1), 1u);
}

TEST_F(Failing, one_is_forgotten_each_second) {
  EXPECT_EQ(counted("a", kMostFailures), kMostFailures);
  now += milliseconds(999);
  EXPECT_EQ(counted("a", 5), 0u);
  now += milliseconds(1);
  EXPECT_EQ(counted("a", 5), 1u);
  now += milliseconds(2'500);
  EXPECT_EQ(counted("a", 5), 2u);
  now += milliseconds(500);
  EXPECT_EQ(counted("a", 5), 1u);
  now += std::chrono::hours(1);
  EXPECT_EQ(counted("a", 2 * kMostFailures), kMostFailures);
}

TEST_F(Failing, the_peer_that_failed_longest_ago_is_forgotten_first) {
  EXPECT_EQ(counted("a", kMostFailures), kMostFailures);
  EXPECT_EQ(counted("b", kMostFailures), kMostFailures);
  for (std::size_t i = 0; i + 2 < TokenFailures::kMostPeers; ++i) {
    EXPECT_EQ(counted("peer " + std::to_string(i), 1), 1u);
  }
  EXPECT_EQ(counted("a", 1), 0u);
  EXPECT_EQ(counted("one more", 1), 1u);  // instead of b
  EXPECT_EQ(failures.peers(), TokenFailures::kMostPeers);
  EXPECT_EQ(counted("a", 1), 0u);
  EXPECT_EQ(counted("b", 1), 1u);
  EXPECT_EQ(failures.peers(), TokenFailures::kMostPeers);
}

}  // namespace
}  // namespace tarry::session
