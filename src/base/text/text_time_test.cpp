#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "support/parsed.h"

namespace tarry::base {
namespace {

std::int64_t time_ms(std::string_view text) { return test::value_of(parse_time_ms(text)); }

std::string time_error(std::string_view text) { return test::refusal_of(parse_time_ms(text)); }

TEST(ParseTime, TakesRfc3339WithAnOffset) {
  EXPECT_EQ(time_ms("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(time_ms("2026-11-20T10:00:00Z"), 1'795'168'800'000);
  EXPECT_EQ(time_ms("2026-11-20t10:00:00z"), 1'795'168'800'000);
  EXPECT_EQ(time_ms("2026-11-20T18:00:00+08:00"), 1'795'168'800'000);
  EXPECT_EQ(time_ms("2026-11-20T04:30:00-05:30"), 1'795'168'800'000);
  EXPECT_EQ(time_ms("2026-11-20T10:00:00+00:00"), 1'795'168'800'000);
  EXPECT_EQ(time_ms("2026-11-20T10:00:00-00:00"), 1'795'168'800'000);
  EXPECT_EQ(time_ms("2026-11-21T09:59:00+23:59"), 1'795'168'800'000);
  EXPECT_EQ(time_ms("2026-11-20T10:00:00.123Z"), 1'795'168'800'123);
}

TEST(ParseTime, RoundsFractionsUp) {
  EXPECT_EQ(time_ms("1970-01-01T00:00:00.5Z"), 500);
  EXPECT_EQ(time_ms("1970-01-01T00:00:00.05Z"), 50);
  EXPECT_EQ(time_ms("1970-01-01T00:00:00.0001Z"), 1);
  EXPECT_EQ(time_ms("1970-01-01T00:00:00.1230000Z"), 123);
  EXPECT_EQ(time_ms("1970-01-01T00:00:00.1230000000000000000000000000001Z"), 124);
  EXPECT_EQ(time_ms("1970-01-01T00:00:00.9999Z"), 1000);
  EXPECT_EQ(time_ms("1999-12-31T23:59:59.9999999999Z"), time_ms("2000-01-01T00:00:00Z"));
}

TEST(ParseTime, TakesMilliseconds) {
  EXPECT_EQ(time_ms("1795168800000"), 1'795'168'800'000);
  EXPECT_EQ(time_ms("0"), 0);
  EXPECT_EQ(time_ms("000000000001"), 1);
  EXPECT_EQ(time_ms("7289654399999"), kMaxTimeMs);
}

TEST(ParseTime, TakesAWholeMinuteWithoutItsSeconds) {
  EXPECT_EQ(time_ms("2030-01-31T09:00+01:00"), time_ms("2030-01-31T08:00:00Z"));
  EXPECT_EQ(time_ms("2030-01-31T09:00Z"), time_ms("2030-01-31T09:00:00.000Z"));
  EXPECT_EQ(time_error("2030-01-31T09:00"),
            "time \"2030-01-31T09:00\" has no offset; add Z for UTC, or one like +08:00");
  for (const std::string text :
       {"2030-01-31T09:00:Z", "2030-01-31T09:00.5Z", "2030-01-31T09Z", "2030-01-31T09:00:0Z"}) {
    EXPECT_NE(time_error(text).find("is neither RFC 3339"), std::string::npos) << text;
  }
}

TEST(ParseTime, AsksForAnOffset) {
  for (const std::string text : {"2026-11-20T10:00:00", "2026-11-20T10:00:00.123"}) {
    EXPECT_EQ(time_error(text),
              "time \"" + text + "\" has no offset; add Z for UTC, or one like +08:00");
  }
}

TEST(ParseTime, KnowsTheCalendar) {
  EXPECT_EQ(time_ms("2024-02-29T00:00:00Z") + 86'400'000, time_ms("2024-03-01T00:00:00Z"));
  EXPECT_EQ(time_ms("2000-02-29T00:00:00Z") + 86'400'000, time_ms("2000-03-01T00:00:00Z"));
  EXPECT_EQ(time_ms("2200-02-28T00:00:00Z") + 86'400'000, time_ms("2200-03-01T00:00:00Z"));
  EXPECT_EQ(time_error("2026-02-29T00:00:00Z"),
            "time \"2026-02-29T00:00:00Z\" has the day 29; it must be 1 to 28");
  EXPECT_EQ(time_error("2100-02-29T00:00:00Z"),
            "time \"2100-02-29T00:00:00Z\" has the day 29; it must be 1 to 28");
  EXPECT_EQ(time_error("2024-02-30T00:00:00Z"),
            "time \"2024-02-30T00:00:00Z\" has the day 30; it must be 1 to 29");
  EXPECT_EQ(time_error("2026-04-31T00:00:00Z"),
            "time \"2026-04-31T00:00:00Z\" has the day 31; it must be 1 to 30");
  EXPECT_EQ(time_error("2026-04-00T00:00:00Z"),
            "time \"2026-04-00T00:00:00Z\" has the day 0; it must be 1 to 30");
  EXPECT_EQ(time_error("2026-00-10T00:00:00Z"),
            "time \"2026-00-10T00:00:00Z\" has the month 0; it must be 1 to 12");
  EXPECT_EQ(time_error("2026-13-10T00:00:00Z"),
            "time \"2026-13-10T00:00:00Z\" has the month 13; it must be 1 to 12");
  EXPECT_EQ(time_error("2026-11-20T24:00:00Z"),
            "time \"2026-11-20T24:00:00Z\" has the hour 24; it must be 0 to 23");
  EXPECT_EQ(time_error("2026-11-20T10:60:00Z"),
            "time \"2026-11-20T10:60:00Z\" has the minute 60; it must be 0 to 59");
  EXPECT_EQ(time_error("2016-12-31T23:59:60Z"),
            "time \"2016-12-31T23:59:60Z\" has the second 60; it must be 0 to 59");
  EXPECT_EQ(time_error("2026-11-20T10:00:00+24:00"),
            "time \"2026-11-20T10:00:00+24:00\" has the offset's hour 24; it must be 0 to 23");
  EXPECT_EQ(time_error("2026-11-20T10:00:00+08:60"),
            "time \"2026-11-20T10:00:00+08:60\" has the offset's minute 60; it must be 0 to 59");
}

TEST(ParseTime, KeepsWithinItsLimits) {
  EXPECT_EQ(time_ms("2200-12-31T23:59:59.999Z"), kMaxTimeMs);
  EXPECT_EQ(time_ms("1970-01-01T01:00:00+01:00"), 0);
  for (const std::string text :
       {"2201-01-01T00:00:00Z", "2200-12-31T23:59:59.9991Z", "2200-12-31T23:59:59-00:01",
        "9999-12-31T23:59:59Z", "7289654400000", "99999999999999999999999999"}) {
    EXPECT_EQ(time_error(text),
              "time \"" + text + "\" is after the limit of 2200-12-31T23:59:59.999Z");
  }
  for (const std::string text : {"1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01",
                                 "0000-01-01T00:00:00Z", "1969-12-31T23:59:59.998Z"}) {
    EXPECT_EQ(time_error(text),
              "time \"" + text + "\" is before the limit of 1970-01-01T00:00:00Z");
  }
}

TEST(ParseTime, RefusesEverythingElse) {
  for (const std::string text : {"",
                                 "now",
                                 "tomorrow",
                                 "-1795168800000",
                                 "1795168800000ms",
                                 "1.7e12",
                                 "2026-11-20",
                                 "2026-11-20 10:00:00Z",
                                 "26-11-20T10:00:00Z",
                                 "2026-1-20T10:00:00Z",
                                 "2026-11-20T10:00:00.Z",
                                 "2026-11-20T10:00:00,5Z",
                                 "2026-11-20T10:00:00ZZ",
                                 "2026-11-20T10:00:00Z ",
                                 " 2026-11-20T10:00:00Z",
                                 "2026-11-20T10:00:00+0800",
                                 "2026-11-20T10:00:00+08",
                                 "2026-11-20T10:00:00+8:00",
                                 "2026-11-20T10:00:00UTC",
                                 "2026-11-20T10:00:00Z+08:00",
                                 "+2026-11-20T10:00:00Z",
                                 "2026-11-20T10:00:-1Z",
                                 "20261120T100000Z",
                                 "2026/11/20T10:00:00Z"}) {
    EXPECT_EQ(time_error(text),
              "time \"" + text +
                  "\" is neither RFC 3339 (2026-11-20T10:00:00Z) nor milliseconds since 1970");
  }
  EXPECT_FALSE(parse_time_ms(std::string_view("2026-11-20T10:00:00Z\0", 21)));
}

TEST(FormatTime, IsRfc3339InUtc) {
  EXPECT_EQ(format_time_ms(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time_ms(1'795'168'800'000), "2026-11-20T10:00:00.000Z");
  EXPECT_EQ(format_time_ms(951'782'400'001), "2000-02-29T00:00:00.001Z");
  EXPECT_EQ(format_time_ms(kMaxTimeMs), "2200-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time_ms(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time_ms(std::numeric_limits<std::int64_t>::max()),
            "292278994-08-17T07:12:55.807Z");
  EXPECT_EQ(format_time_ms(std::numeric_limits<std::int64_t>::min()),
            "-292275055-05-16T16:47:04.192Z");
}

RC_GTEST_PROP(FormatTime, ReadsBackAsTheSameValue, ()) {
  const auto value = *rc::gen::inRange<std::int64_t>(0, kMaxTimeMs + 1);
  RC_ASSERT(parse_time_ms(format_time_ms(value)).value() == value);
}

// The standard library's calendar confirms each answer.
TEST(FormatTime, AgreesWithChronoOnEveryDay) {
  for (std::int64_t day = 0; day <= kMaxTimeMs / 86'400'000; ++day) {
    const std::chrono::year_month_day date{
        std::chrono::sys_days(std::chrono::days(static_cast<int>(day)))};
    char expected[64];
    std::snprintf(expected, sizeof expected, "%04d-%02u-%02uT00:00:00.000Z",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()));
    ASSERT_EQ(format_time_ms(day * 86'400'000), expected);
    ASSERT_EQ(time_ms(expected), day * 86'400'000);
  }
}

RC_GTEST_PROP(ParseTime, AnyTextIsReadOrRefused, ()) {
  std::string text = "2026-11-20T10:00:00.5+08:00";
  for (const auto& [at, c] : *rc::gen::container<std::vector<std::pair<std::size_t, char>>>(
           rc::gen::pair(rc::gen::inRange<std::size_t>(0, text.size()),
                         rc::gen::elementOf(std::string("0123459TZ:-+. "))))) {
    text[at] = c;
  }
  if (const auto parsed = parse_time_ms(text)) {
    RC_ASSERT(*parsed >= 0 && *parsed <= kMaxTimeMs);
  }
}

}  // namespace
}  // namespace tarry::base
