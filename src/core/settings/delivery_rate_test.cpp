#include "core/settings/delivery_rate.h"

#include <gtest/gtest.h>

#include <string>

namespace tarry::core {
namespace {

using namespace std::chrono_literals;

TEST(DeliveryRateText, IsReadAsItIsWritten) {
  EXPECT_EQ(*parse_delivery_rate("100/1s"), (DeliveryRate{100, 1s, 100}));
  EXPECT_EQ(*parse_delivery_rate("100/1s burst 20"), (DeliveryRate{100, 1s, 20}));
  EXPECT_EQ(*parse_delivery_rate("none"), DeliveryRate());
  for (const char* text : {"1/7d", "1000000/1ms", "5/1h burst 1000000", "none"}) {
    EXPECT_EQ(delivery_rate_text(*parse_delivery_rate(text)), text);
    EXPECT_TRUE(is_delivery_rate(*parse_delivery_rate(text)));
  }
  EXPECT_EQ(delivery_rate_text(*parse_delivery_rate("7/1s burst 7")), "7/1s");
}

TEST(DeliveryRateText, ThatIsWrongIsRefusedWithTheValueAndTheLimit) {
  const auto refused = [](const std::string& text, const std::string& why) {
    const auto rate = parse_delivery_rate(text);
    ASSERT_FALSE(rate) << text;
    EXPECT_EQ(rate.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(rate.error().message.find("rate \"" + text + "\": "), std::string::npos);
    EXPECT_NE(rate.error().message.find(why), std::string::npos) << rate.error().message;
  };
  refused("100", "it must be like");
  refused("", "it must be like");
  refused("0/1s", "the count must be from 1 to 1000000");
  refused("-1/1s", "the count must be from 1 to 1000000");
  refused("1000001/1s", "the count must be from 1 to 1000000");
  refused("burst 5 /1s", "the count");
  refused("1/0s", "the time must be from 1ms to 7d");
  refused("1/8d", "the time must be from 1ms to 7d");
  refused("1/soon", "soon");
  refused("1/1s burst 0", "the burst must be from 1 to 1000000");
  refused("1/1s burst 1000001", "the burst must be from 1 to 1000000");
}

TEST(DeliveryRateText, OnlyGoodOnesAreRates) {
  EXPECT_TRUE(is_delivery_rate({}));
  EXPECT_FALSE(is_delivery_rate({1, 1s, 0}));
  EXPECT_FALSE(is_delivery_rate({0, 1s, 1}));
  EXPECT_FALSE(is_delivery_rate({1, 0s, 1}));
  EXPECT_FALSE(is_delivery_rate({1'000'001, 1s, 1}));
}

}  // namespace
}  // namespace tarry::core
