#include "server/limits/permits.h"

#include <gtest/gtest.h>

namespace tarry::limits {
namespace {

using std::chrono::milliseconds;

class PermitsTest : public ::testing::Test {
 protected:
  std::optional<Reached> take(bool may_refuse = true) {
    const Counting counting[] = {{Scope::token, &token_, 2, "shop"},
                                 {Scope::peer, &peer_, 3, "10.0.0.7"},
                                 {Scope::total, &total_, 4, ""}};
    return take_permits(counting, now_, may_refuse);
  }

  RateBucket token_;
  RateBucket peer_;
  RateBucket total_;
  RateBucket::Clock::time_point now_ = RateBucket::Clock::time_point(std::chrono::hours(5));
};

TEST_F(PermitsTest, the_empty_bucket_is_named) {
  EXPECT_FALSE(take());
  EXPECT_FALSE(take());
  const auto reached = take();
  ASSERT_TRUE(reached);
  EXPECT_EQ(text_of(*reached),
            "the limit of 2 requests a second for token shop is reached "
            "(limits.requests_per_token)");
  EXPECT_EQ(reached->retry_after, std::chrono::seconds(1));
}

TEST_F(PermitsTest, a_refused_request_takes_nothing) {
  for (int i = 0; i < 10; ++i) static_cast<void>(take());
  EXPECT_EQ(token_.taken(now_, 2), 2u);
  EXPECT_EQ(peer_.taken(now_, 3), 2u);
  EXPECT_EQ(total_.taken(now_, 4), 2u);
}

TEST_F(PermitsTest, the_longest_wait_is_told) {
  peer_.take(now_, 3);
  EXPECT_FALSE(take());
  EXPECT_FALSE(take());
  now_ += milliseconds(100);  // the token waits 400 ms more, the peer 233 ms
  EXPECT_EQ(take()->scope, Scope::token);
  for (int i = 0; i < 9; ++i) peer_.take(now_, 3);
  token_ = {};
  const auto reached = take();
  ASSERT_TRUE(reached);
  EXPECT_EQ(text_of(*reached),
            "the limit of 3 requests a second for 10.0.0.7 is reached (limits.requests_per_peer)");
}

TEST_F(PermitsTest, what_may_not_be_refused_is_counted) {
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(take(false));
  EXPECT_EQ(total_.taken(now_, 4), 3u);
  EXPECT_TRUE(take());
  EXPECT_FALSE(take(false));
}

TEST_F(PermitsTest, a_rate_of_0_is_no_limit) {
  const Counting counting[] = {{Scope::token, nullptr, 1, ""}, {Scope::total, &total_, 0, ""}};
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(take_permits(counting, now_, true));
  EXPECT_TRUE(total_.is_unused());
}

TEST(Limit, text_names_all_clients) {
  EXPECT_EQ(text_of({Limit::waiting_claims, Scope::total, 7, ""}),
            "the limit of 7 waiting claims for all clients is reached (limits.waiting_claims)");
}

}  // namespace
}  // namespace tarry::limits
