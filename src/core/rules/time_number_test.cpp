#include "core/rules/time_number.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tarry::core {
namespace {

std::string refused(std::int64_t number, TimeUnit unit = TimeUnit::milliseconds) {
  const auto error = check_time_number("\"due_ms\"", number, unit);
  if (!error) return {};
  EXPECT_EQ(error->code, ErrorCode::invalid_argument);
  return error->message;
}

TEST(TimeNumber, MillisecondsThatCanOnlyBeSecondsAreRefused) {
  EXPECT_EQ(refused(1'700'000'000),
            "\"due_ms\" is 1700000000, which looks like seconds; milliseconds since 1970 must be "
            "at least 1000000000000 (2001-09-09), or 0; give an earlier time as text");
  for (const std::int64_t seconds :
       {std::int64_t{1}, kMostTimeNumberSeconds, kLeastTimeNumberMs - 1}) {
    EXPECT_NE(refused(seconds), "") << seconds;
  }
  for (const std::int64_t ms : {std::int64_t{0}, kLeastTimeNumberMs, base::kMaxTimeMs}) {
    EXPECT_EQ(refused(ms), "") << ms;
  }
}

TEST(TimeNumber, SecondsThatCanOnlyBeMillisecondsAreRefused) {
  EXPECT_EQ(refused(1'700'000'000'000, TimeUnit::seconds),
            "\"due_ms\" is 1700000000000, which looks like milliseconds; seconds since 1970 must "
            "be at most 7289654399 (the end of the year 2200)");
  EXPECT_NE(refused(kMostTimeNumberSeconds + 1, TimeUnit::seconds), "");
  for (const std::int64_t seconds :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'700'000'000}, kMostTimeNumberSeconds}) {
    EXPECT_EQ(refused(seconds, TimeUnit::seconds), "") << seconds;
  }
}

TEST(TimeNumber, TimesBefore1970AndAfter2200AreRefused) {
  EXPECT_EQ(refused(-1),
            "\"due_ms\" is -1, which is before 1970, the earliest time that is accepted");
  EXPECT_EQ(refused(base::kMaxTimeMs + 1),
            "\"due_ms\" is 7289654400000, which is after the limit of 7289654399999 (the end of "
            "the year 2200)");
  using Limits = std::numeric_limits<std::int64_t>;
  for (const auto unit : {TimeUnit::milliseconds, TimeUnit::seconds}) {
    for (const std::int64_t number : {std::int64_t{-1}, Limits::min(), Limits::max()}) {
      EXPECT_NE(refused(number, unit), "") << number;
    }
  }
}

TEST(TimeNumber, OfATextOnlyDigitsAreLookedAt) {
  EXPECT_EQ(parse_time_ms("1795168800000").value(), 1'795'168'800'000);
  EXPECT_EQ(parse_time_ms("0").value(), 0);
  EXPECT_EQ(parse_time_ms("1970-01-20T16:13:20Z").value(), 1'700'000'000);
  EXPECT_EQ(parse_time_ms("1795168800").error().message,
            "time \"1795168800\" is 1795168800, which looks like seconds; milliseconds since 1970 "
            "must be at least 1000000000000 (2001-09-09), or 0; give an earlier time as text");
  EXPECT_FALSE(parse_time_ms(""));
  EXPECT_FALSE(parse_time_ms("soon"));
}

}  // namespace
}  // namespace tarry::core
