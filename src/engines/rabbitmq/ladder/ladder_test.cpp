#include "engines/rabbitmq/ladder/ladder.h"

#include <bit>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarry::rabbitmq {
namespace {

constexpr std::int64_t kYearMs = 366ll * 24 * 3600 * 1000;

// The shortest time that a message with `units` spends on the ladder: each rung ends 1 ms early.
std::int64_t shortest_ms(const Ladder& ladder, std::uint32_t units) {
  std::int64_t ms = 0;
  for (int rung = 0; rung < Ladder::kRungs; ++rung) {
    if ((units >> rung & 1) != 0) ms += ladder.wait_ms(rung) - 1;
  }
  return ms;
}

TEST(Ladder, holds_a_year) {
  const Ladder ladder;
  EXPECT_GT(ladder.top_ms(), kYearMs);
  const auto units = ladder.units(kYearMs);
  ASSERT_TRUE(units);
  EXPECT_GE(shortest_ms(ladder, *units), kYearMs);
  EXPECT_LT(*units * ladder.base_ms(), kYearMs + 2 * ladder.base_ms());
}

TEST(Ladder, has_no_delay_over_its_top) {
  const Ladder ladder;
  EXPECT_TRUE(ladder.units(ladder.top_ms()));
  EXPECT_FALSE(ladder.units(ladder.top_ms() + 1));
}

TEST(Ladder, rounds_up_to_the_base_rung) {
  const Ladder ladder(100);
  EXPECT_EQ(ladder.units(-5), 0u);
  EXPECT_EQ(ladder.units(0), 0u);
  EXPECT_EQ(ladder.units(1), 1u);
  EXPECT_EQ(ladder.units(99), 1u);
  EXPECT_EQ(ladder.units(100), 2u);  // a rung of 100 ms may last 99.1 ms
  EXPECT_EQ(ladder.units(101), 2u);
}

RC_GTEST_PROP(Ladder, is_never_early_and_hardly_late, ()) {
  const Ladder ladder(*rc::gen::inRange<std::int64_t>(1, Ladder::kMostBaseMs + 1));
  const auto delay = *rc::gen::inRange<std::int64_t>(0, ladder.top_ms() + 1);
  const auto units = ladder.units(delay);
  RC_ASSERT(units.has_value());
  RC_ASSERT(*units < std::uint32_t{1} << Ladder::kRungs);
  RC_ASSERT(shortest_ms(ladder, *units) >= delay);
  RC_ASSERT(*units * ladder.base_ms() <= delay + ladder.base_ms() + 2 * Ladder::kRungs);
}

TEST(Ladder, begins_at_the_highest_bit) {
  EXPECT_EQ(Ladder::first_rung(1), 0);
  EXPECT_EQ(Ladder::first_rung(6), 2);
  EXPECT_EQ(Ladder::first_rung((1u << Ladder::kRungs) - 1), Ladder::kRungs - 1);
}

// Matches a pattern as a topic exchange does.
bool matches(std::string_view pattern, std::string_view key) {
  while (!pattern.empty()) {
    if (pattern == "#") return true;
    const std::string_view word = key.substr(0, key.find('.'));
    const std::string_view wanted = pattern.substr(0, pattern.find('.'));
    if (wanted != "*" && wanted != word) return false;
    pattern.remove_prefix(std::min(pattern.size(), wanted.size() + 1));
    if (key.empty()) return false;
    key.remove_prefix(std::min(key.size(), word.size() + 1));
  }
  return key.empty();
}

TEST(Ladder, routes_by_each_bit) {
  const std::uint32_t units = 0b1011;
  const std::string key = Ladder::routing_key(units, "shop.orders");
  for (int rung = 0; rung < Ladder::kRungs; ++rung) {
    const bool bit = (units >> rung & 1) != 0;
    EXPECT_TRUE(matches(Ladder::pattern(rung, bit), key)) << rung;
    EXPECT_FALSE(matches(Ladder::pattern(rung, !bit), key)) << rung;
  }
  EXPECT_TRUE(matches(Ladder::pattern("shop.orders"), key));
  EXPECT_FALSE(matches(Ladder::pattern("orders"), key));
}

TEST(Ladder, keeps_the_longest_name_in_a_routing_key) {
  EXPECT_LE(Ladder::routing_key(1, std::string(127, 'q')).size(), 255u);
}

}  // namespace
}  // namespace tarry::rabbitmq
