#include "engines/redis/queues/rate_bucket.h"

#include <gtest/gtest.h>

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

TEST(RateBucket, SpellsRatesInOneWord) {
  EXPECT_EQ(spell_rate({}), "0");
  EXPECT_EQ(spell_rate({100, 1s, 20}), "100p1000b20");
  EXPECT_EQ(read_rate("100p1000b20"), (DeliveryRate{100, 1s, 20}));
  const DeliveryRate largest{1'000'000, Millis(7 * 86'400'000), 1'000'000};
  EXPECT_EQ(read_rate(spell_rate(largest)), largest);
}

TEST(RateBucket, TakesNoOtherText) {
  for (const char* text :
       {"0", "", "1", "1p", "1p2", "1p2b", "1p2b3 ", "1p2b3x", "p1b2", "0p1b1", "1p0b1", "1p1b0",
        "-1p1b1", "1000001p1b1", "4294967297p1b1", "99999999999999999999p1b1", "1p604800001b1"}) {
    EXPECT_EQ(read_rate(text), DeliveryRate()) << text;
  }
}

TEST(RateBucket, KnowsWhenTheNextTokenComes) {
  const DeliveryRate rate{1, 1s, 2};
  EXPECT_EQ(next_token_ms(rate, "0 5000 1p1000b2", 5'000), 6'000);
  EXPECT_EQ(next_token_ms(rate, "0 5000 1p1000b2", 5'999), 6'000);
  EXPECT_FALSE(next_token_ms(rate, "0 5000 1p1000b2", 6'000));
  EXPECT_EQ(next_token_ms(rate, "400 5000 1p1000b2", 5'000), 5'600);
  EXPECT_FALSE(next_token_ms(rate, "1000 5000 1p1000b2", 5'000));
  EXPECT_EQ(next_token_ms({3, 1s, 1}, "0 5000 3p1000b1", 5'000), 5'334);
}

TEST(RateBucket, KeepsTheTokensOfAnotherRate) {
  EXPECT_EQ(next_token_ms({1, 1s, 2}, "59000 5000 1p60000b5", 5'000), 6'000);
  EXPECT_FALSE(next_token_ms({1, 1s, 2}, "60000 5000 1p60000b5", 5'000));
}

// As in scripts/gate.lua: nothing has come since then.
TEST(RateBucket, CountsFromNowIfTheClockWasSetBack) {
  EXPECT_EQ(next_token_ms({1, 1s, 2}, "0 5000 1p1000b2", 3'000), 4'000);
}

TEST(RateBucket, TellsNothingOfABucketThatIsNone) {
  for (const char* bucket : {"", "0", "0 5000", "x 5000 1p1000b2", "0 x 1p1000b2", "0 5000 y"}) {
    EXPECT_FALSE(next_token_ms({1, 1s, 2}, bucket, 0)) << bucket;
  }
}

}  // namespace
}  // namespace tarry::redis
