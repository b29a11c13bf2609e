#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

#include "base/text/text.h"
#include "support/parsed.h"

namespace tarry::base {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

std::int64_t duration_ms(std::string_view text) { return test::value_of(parse_duration_ms(text)); }

std::string duration_error(std::string_view text) {
  return test::refusal_of(parse_duration_ms(text));
}

TEST(ParseDuration, TakesEachUnit) {
  EXPECT_EQ(duration_ms("250ms"), 250);
  EXPECT_EQ(duration_ms("30s"), 30 * kSecond);
  EXPECT_EQ(duration_ms("15m"), 15 * kMinute);
  EXPECT_EQ(duration_ms("2h"), 2 * kHour);
  EXPECT_EQ(duration_ms("7d"), 7 * kDay);
  EXPECT_EQ(duration_ms("3000us"), 3);
  EXPECT_EQ(duration_ms("0s"), 0);
  EXPECT_EQ(duration_ms("0ms"), 0);
  EXPECT_EQ(duration_ms("007s"), 7 * kSecond);
}

TEST(ParseDuration, TakesPartsFromLargeToSmall) {
  EXPECT_EQ(duration_ms("1h30m"), kHour + 30 * kMinute);
  EXPECT_EQ(duration_ms("1d2h3m4s5ms"), kDay + 2 * kHour + 3 * kMinute + 4 * kSecond + 5);
  EXPECT_EQ(duration_ms("1h90m"), 2 * kHour + 30 * kMinute);
  EXPECT_EQ(duration_ms("1m1.5s"), kMinute + 1500);
}

TEST(ParseDuration, RoundsUpNeverDown) {
  EXPECT_EQ(duration_ms("500us"), 1);
  EXPECT_EQ(duration_ms("1us"), 1);
  EXPECT_EQ(duration_ms("1000us"), 1);
  EXPECT_EQ(duration_ms("1001us"), 2);
  EXPECT_EQ(duration_ms("1ms500us"), 2);
  EXPECT_EQ(duration_ms("1.5s"), 1500);
  EXPECT_EQ(duration_ms("1.0005s"), 1001);
  EXPECT_EQ(duration_ms("0.001s"), 1);
  EXPECT_EQ(duration_ms("0.0010s"), 1);
  EXPECT_EQ(duration_ms("0.00100000000000000000000000001s"), 2);
  EXPECT_EQ(duration_ms("0.00000000000000000000000000000001s"), 1);
  EXPECT_EQ(duration_ms("0.00000000000000000000000000000000s"), 0);
  EXPECT_EQ(duration_ms("0.1us"), 1);
  EXPECT_EQ(duration_ms("1.123456789d"), 97'066'667);  // 97,066,666.5696
  EXPECT_EQ(duration_ms("0.3333333333333333333333d"), 28'800'000);
}

TEST(ParseDuration, TakesIso8601) {
  EXPECT_EQ(duration_ms("PT30M"), 30 * kMinute);
  EXPECT_EQ(duration_ms("P1DT2H"), kDay + 2 * kHour);
  EXPECT_EQ(duration_ms("PT0.5S"), 500);
  EXPECT_EQ(duration_ms("PT0.0001S"), 1);
  EXPECT_EQ(duration_ms("P2W"), 14 * kDay);
  EXPECT_EQ(duration_ms("P30D"), 30 * kDay);
  EXPECT_EQ(duration_ms("PT36H"), 36 * kHour);
  EXPECT_EQ(duration_ms("P1DT1H1M1S"), kDay + kHour + kMinute + kSecond);
  EXPECT_EQ(duration_ms("PT0S"), 0);
  EXPECT_EQ(duration_ms("pt30m"), 30 * kMinute);
}

TEST(ParseDuration, RefusesYearsAndMonthsBecauseTheirLengthVaries) {
  for (const std::string text : {"P1Y", "P1M", "P1Y2M3DT4H", "P0M"}) {
    EXPECT_EQ(duration_error(text),
              "duration \"" + text +
                  "\" counts years or months, whose length varies; use days, as in P30D");
  }
}

TEST(ParseDuration, RefusesANumberWithoutAUnit) {
  EXPECT_EQ(duration_error("30"),
            "duration \"30\" has no unit; use 250ms, 30s, 15m, 2h, 7d or PT30M");
  EXPECT_EQ(duration_error("1.5"),
            "duration \"1.5\" has no unit; use 250ms, 30s, 15m, 2h, 7d or PT30M");
  EXPECT_EQ(duration_error("1h30"),
            "duration \"1h30\" has no unit after \"30\"; use 250ms, 30s, 15m, 2h, 7d or PT30M");
}

TEST(ParseDuration, SaysWhatIsWrong) {
  EXPECT_EQ(duration_error(""), "duration \"\" is empty; use 250ms, 30s, 15m, 2h, 7d or PT30M");
  EXPECT_EQ(duration_error("-5s"), "duration \"-5s\" is negative; the least is 0s");
  EXPECT_EQ(duration_error("-PT5S"), "duration \"-PT5S\" is negative; the least is 0s");
  EXPECT_EQ(duration_error("soon"),
            "duration \"soon\" is not a duration; use 250ms, 30s, 15m, 2h, 7d or PT30M");
  EXPECT_EQ(duration_error("5 s"),
            "duration \"5 s\" has the unknown unit \" s\"; use 250ms, 30s, 15m, "
            "2h, 7d or PT30M");
  EXPECT_EQ(duration_error("30m1h"),
            "duration \"30m1h\" must name each unit once, from large to small, as in 1h30m");
  EXPECT_EQ(duration_error("1h1h"),
            "duration \"1h1h\" must name each unit once, from large to small, as in 1h30m");
  EXPECT_EQ(duration_error("1.5h30m"),
            "duration \"1.5h30m\" has a fraction in a part that is not the last");
  for (const std::string text : {"5S", "5y", "5w", "5\xC2\xB5s", "+5s", ".5s", "5.s", "5..5s", "s",
                                 "5s ", " 5s", "1,5s", "1e3s", "5s-3ms", "0x5s", "1h-30m"}) {
    EXPECT_FALSE(parse_duration_ms(text)) << text;
  }
  for (const std::string text :
       {"P",     "PT",    "P1DT",  "P1",     "PT1",       "P1H",      "PT1D",
        "PT1W",  "P1DT1", "PTT1S", "PT1H1H", "PT1S1M",    "PT1.5H1M", "P1D ",
        "PT.5S", "PT5.S", "PT-5S", "P-1D",   "P1DT2HT3M", "PX",       "30sP1D"}) {
    EXPECT_FALSE(parse_duration_ms(text)) << text;
  }
  EXPECT_FALSE(parse_duration_ms(std::string_view("5s\0", 3)));
}

TEST(ParseDuration, StopsAtAHundredYears) {
  EXPECT_EQ(duration_ms("36525d"), kMaxDurationMs);
  EXPECT_EQ(duration_ms("3155760000000ms"), kMaxDurationMs);
  EXPECT_EQ(duration_ms("P36525D"), kMaxDurationMs);
  for (const std::string text :
       {"36525d1ms", "36525d1us", "36525.00000000000000000000001d", "36526d", "3155760000001ms",
        "99999999999999999999999999999999d", "18446744073709551616us", "9223372036854775808ms",
        "213503982334602d", "P36526D", "P5218W", "PT99999999999999999999H", "36524d24h1ms"}) {
    EXPECT_EQ(duration_error(text),
              "duration \"" + text + "\" is over the limit of 100 years (36525d)");
  }
}

TEST(FormatDuration, IsShortAndExact) {
  EXPECT_EQ(format_duration_ms(0), "0s");
  EXPECT_EQ(format_duration_ms(1), "1ms");
  EXPECT_EQ(format_duration_ms(250), "250ms");
  EXPECT_EQ(format_duration_ms(1000), "1s");
  EXPECT_EQ(format_duration_ms(1500), "1.5s");
  EXPECT_EQ(format_duration_ms(1001), "1.001s");
  EXPECT_EQ(format_duration_ms(1010), "1.01s");
  EXPECT_EQ(format_duration_ms(30 * kSecond), "30s");
  EXPECT_EQ(format_duration_ms(90 * kMinute), "1h30m");
  EXPECT_EQ(format_duration_ms(kMinute + 1), "1m0.001s");
  EXPECT_EQ(format_duration_ms(7 * kDay), "7d");
  EXPECT_EQ(format_duration_ms(kDay + 5), "1d0.005s");
  EXPECT_EQ(format_duration_ms(kMaxDurationMs), "36525d");
  EXPECT_EQ(format_duration_ms(-1500), "-1.5s");
  EXPECT_EQ(format_duration_ms(std::numeric_limits<std::int64_t>::min()),
            "-106751991167d7h12m55.808s");
}

RC_GTEST_PROP(FormatDuration, ReadsBackAsTheSameValue, ()) {
  const auto value = *rc::gen::map(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(0, kMaxDurationMs + 1), rc::gen::inRange(0, 42)),
      [](const auto& drawn) { return drawn.first >> drawn.second; });
  RC_ASSERT(parse_duration_ms(format_duration_ms(value)).value() == value);
}

// Compares with arithmetic in microseconds, which loses nothing.
RC_GTEST_PROP(ParseDuration, FractionsRoundUpExactly, ()) {
  const auto whole = *rc::gen::inRange(0, 1000);
  const auto micros = *rc::gen::inRange(0, 1'000'000);
  const std::string text =
      std::to_string(whole) + "." + std::to_string(1'000'000 + micros).substr(1) + "s";
  const std::int64_t us = std::int64_t{whole} * 1'000'000 + micros;
  RC_ASSERT(parse_duration_ms(text).value() == (us + 999) / 1000);
}

RC_GTEST_PROP(ParseDuration, AnyTextIsReadOrRefused, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0159.PTWDHMSdhmsu-")));
  if (const auto parsed = parse_duration_ms(text)) {
    RC_ASSERT(*parsed >= 0 && *parsed <= kMaxDurationMs);
    RC_ASSERT(parse_duration_ms(format_duration_ms(*parsed)).value() == *parsed);
  }
}

}  // namespace
}  // namespace tarry::base
