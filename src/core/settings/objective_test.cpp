#include "core/settings/objective.h"

#include <gtest/gtest.h>

#include <string>

namespace tarry::core {
namespace {

std::string refusal_of(std::string_view text) {
  const auto read = parse_objective(text);
  return read ? "accepted" : read.error().message;
}

TEST(Objective, IsReadAndSpelled) {
  EXPECT_EQ(*parse_objective("99% within 1s"), (Objective{99'000, Millis(1'000)}));
  EXPECT_EQ(*parse_objective(" 99.95%within  250ms "), (Objective{99'950, Millis(250)}));
  EXPECT_EQ(*parse_objective("1% within 7d"), (Objective{1'000, Millis(kMaxObjectiveMs)}));
  EXPECT_EQ(*parse_objective("none"), Objective());
  for (const char* text : {"99% within 1s", "99.9% within 250ms", "99.999% within 1m30s",
                           "1% within 1ms", "50.05% within 7d", "none"}) {
    const Objective read = *parse_objective(text);
    EXPECT_EQ(objective_text(read), text);
    EXPECT_TRUE(is_objective(read)) << text;
    EXPECT_EQ(objective_of(objective_number(read)), read) << text;
  }
}

TEST(Objective, IsRefusedWithValueAndLimit) {
  for (const char* share : {"101%", "100%", "0%", "0.999%", "99999999999999999999%"}) {
    const std::string text = std::string(share) + " within 1s";
    EXPECT_EQ(refusal_of(text),
              "objective \"" + text + "\": the percentage must be from 1 to 99.999");
  }
  for (const char* time : {"0s", "8d", "169h"}) {
    const std::string text = "99% within " + std::string(time);
    EXPECT_EQ(refusal_of(text), "objective \"" + text + "\": the time must be from 1ms to 7d");
  }
  for (const char* text : {"", "fast", "99 within 1s", "99%", "% within 1s", "99.9999% within 1s",
                           "-1% within 1s", "99.% within 1s", "9 9% within 1s", "within 1s 99%"}) {
    EXPECT_NE(refusal_of(text).find(R"(must be like "99% within 1s", or "none")"),
              std::string::npos)
        << text << ": " << refusal_of(text);
  }
  EXPECT_NE(refusal_of("99% within soon").find("soon"), std::string::npos);
}

TEST(Objective, OtherValuesAreNone) {
  EXPECT_FALSE(is_objective({0, Millis(1)}));
  EXPECT_FALSE(is_objective({999, Millis(1)}));
  EXPECT_FALSE(is_objective({100'000, Millis(1)}));
  EXPECT_FALSE(is_objective({99'000, Millis(0)}));
  EXPECT_FALSE(is_objective({99'000, Millis(kMaxObjectiveMs + 1)}));
}

}  // namespace
}  // namespace tarry::core
