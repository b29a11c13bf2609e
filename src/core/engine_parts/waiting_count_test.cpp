#include "core/engine_parts/waiting_count.h"

#include <gtest/gtest.h>

namespace tarry::core {
namespace {

TEST(WaitingCount, RefusesOneClaimTooManyUntilOneHasEnded) {
  Limits limits;
  limits.max_waiting_claims = 1;
  WaitingCount count(limits);
  ClaimRequest claim;
  claim.queues = {"q"};
  EXPECT_FALSE(count.begin(claim));
  const MaybeError refused = count.begin(claim);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::unavailable);
  EXPECT_EQ(refused->message,
            "1 claims wait at the store, and its limit is 1; claim without a wait, or try again "
            "later");
  count.end(claim);
  EXPECT_FALSE(count.begin(claim));
}

TEST(WaitingCount, RefusesNamesBeyondTheLimitAndTakesFewer) {
  Limits limits;
  limits.max_waiting_names = 4;
  WaitingCount count(limits);
  ClaimRequest claim;
  claim.queues = {"a", "b"};
  EXPECT_FALSE(count.begin(claim));
  ClaimRequest large;
  large.queues = {"a"};
  large.keys = {"k", "l"};
  const MaybeError refused = count.begin(large);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->message,
            "the claims that wait at the store would name 5 queues and keys with this one, and its "
            "limit is 4; claim without a wait, name fewer, or try again later");
  EXPECT_FALSE(count.begin(claim));
}

}  // namespace
}  // namespace tarry::core
