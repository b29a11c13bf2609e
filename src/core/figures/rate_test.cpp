#include "core/figures/rate.h"

#include <gtest/gtest.h>

#include <string>

namespace tarry::core {
namespace {

TEST(Rate, ReadsDigitsAndAFraction) {
  EXPECT_EQ(*parse_rate("rate", "120"), 120);
  EXPECT_EQ(*parse_rate("rate", "0.5"), 0.5);
  EXPECT_EQ(*parse_rate("rate", "0.001"), 0.001);
  EXPECT_EQ(*parse_rate("rate", "10000000"), 10'000'000);
  EXPECT_EQ(*parse_arrivals("arrivals", "none"), 0);
  EXPECT_EQ(*parse_arrivals("arrivals", "7"), 7);
}

TEST(Rate, NamesTheValueAndTheLimits) {
  for (const std::string text :
       {"0", "-1", "fast", "", "1e3", "inf", "nan", "0x10", ".5", "5.", "1.2.3", "10000001",
        "0.0009", "none", " 1", "+1", "1000000000000000000000000000000000000000000000"}) {
    const auto rate = parse_rate("rate", text);
    ASSERT_FALSE(rate) << text;
    EXPECT_EQ(rate.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(rate.error().message, "rate \"" + text +
                                        "\" is not a number of messages a second, from 0.001 to "
                                        "10000000");
    if (text == "none") continue;
    const auto arrivals = parse_arrivals("arrivals", text);
    ASSERT_FALSE(arrivals) << text;
    EXPECT_NE(arrivals.error().message.find("10000000, or \"none\""), std::string::npos);
  }
}

}  // namespace
}  // namespace tarry::core
