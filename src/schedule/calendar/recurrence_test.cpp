#include "schedule/calendar/recurrence.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "base/text/text.h"

namespace tarry::schedule {
namespace {

Time moment(const std::string& text) { return Time(Millis(*base::parse_time_ms(text))); }

std::string text_of(Time time) { return base::format_time_ms(time.time_since_epoch().count()); }

std::vector<std::string> occurrences(const RecurrenceSpec& spec, const std::string& after,
                                     int count) {
  const auto recurrence = Recurrence::make(spec);
  if (!recurrence) return {recurrence.error().message};
  std::vector<std::string> found;
  auto next = recurrence->next(moment(after));
  for (; count > 0 && next; --count) {
    found.push_back(text_of(*next).substr(0, 19));
    next = recurrence->next(*next);
  }
  return found;
}

using Times = std::vector<std::string>;

// In Berlin the clock goes from 02:00 to 03:00 at 2026-03-29T01:00Z, and from 03:00 to 02:00 at
// 2026-10-25T01:00Z.
TEST(RecurrenceTest, ASkippedTimeHappensAtTheChange) {
  EXPECT_EQ(occurrences({.when = "30 2 * * *", .zone = "Europe/Berlin"}, "2026-03-28T00:00Z", 3),
            (Times{"2026-03-28T01:30:00", "2026-03-29T01:00:00", "2026-03-30T00:30:00"}));
  // Several of them are one occurrence, and so is one that is due then anyway.
  EXPECT_EQ(
      occurrences({.when = "0,20,40 2,3 29 3 *", .zone = "Europe/Berlin"}, "2026-03-28T00:00Z", 3),
      (Times{"2026-03-29T01:00:00", "2026-03-29T01:20:00", "2026-03-29T01:40:00"}));
}

TEST(RecurrenceTest, ATimeThatComesTwiceHappensTheFirstTime) {
  EXPECT_EQ(occurrences({.when = "30 2 * * *", .zone = "Europe/Berlin"}, "2026-10-24T12:00Z", 2),
            (Times{"2026-10-25T00:30:00", "2026-10-26T01:30:00"}));
  EXPECT_EQ(occurrences({.when = "30 2,3 * * *", .zone = "Europe/Berlin"}, "2026-10-25T00:30Z", 1),
            (Times{"2026-10-25T02:30:00"}));
}

TEST(RecurrenceTest, EveryHourFollowsTheTimeThatPasses) {
  EXPECT_EQ(occurrences({.when = "30 * * * *", .zone = "Europe/Berlin"}, "2026-03-29T00:00Z", 3),
            (Times{"2026-03-29T00:30:00", "2026-03-29T01:30:00", "2026-03-29T02:30:00"}));
  EXPECT_EQ(occurrences({.when = "30 * * * *", .zone = "Europe/Berlin"}, "2026-10-25T00:00Z", 3),
            (Times{"2026-10-25T00:30:00", "2026-10-25T01:30:00", "2026-10-25T02:30:00"}));
}

TEST(RecurrenceTest, ASkippedDayHappensAtTheChange) {
  // Samoa had no 30 December 2011.
  EXPECT_EQ(occurrences({.when = "0 12 * * *", .zone = "Pacific/Apia"}, "2011-12-29T00:00Z", 3),
            (Times{"2011-12-29T22:00:00", "2011-12-30T10:00:00", "2011-12-30T22:00:00"}));
}

TEST(RecurrenceTest, RulesOfAZoneContinueAfterItsFile) {
  EXPECT_EQ(occurrences({.when = "0 12 1 7 *", .zone = "Europe/Berlin"}, "2099-01-01T00:00Z", 1),
            (Times{"2099-07-01T10:00:00"}));
  EXPECT_EQ(occurrences({.when = "0 12 1 1 *", .zone = "America/Santiago"}, "2150-01-01T00:00Z", 1),
            (Times{"2150-01-01T15:00:00"}));
}

TEST(RecurrenceTest, IntervalsCountFromTheStart) {
  EXPECT_EQ(occurrences({.when = "every 15m"}, "2026-01-01T00:00:00.001Z", 2),
            (Times{"2026-01-01T00:15:00", "2026-01-01T00:30:00"}));
  EXPECT_EQ(occurrences({.when = "@every 90s", .start = moment("2026-01-01T00:00:10Z")},
                        "2020-01-01T00:00Z", 2),
            (Times{"2026-01-01T00:00:10", "2026-01-01T00:01:40"}));
}

TEST(RecurrenceTest, StartAndEndAreIncluded) {
  EXPECT_EQ(occurrences({.when = "0 0 * * *",
                         .start = moment("2026-01-02T00:00Z"),
                         .end = moment("2026-01-04T00:00Z")},
                        "2020-01-01T00:00Z", 9),
            (Times{"2026-01-02T00:00:00", "2026-01-03T00:00:00", "2026-01-04T00:00:00"}));
}

TEST(RecurrenceTest, JitterIsTheSameEachTimeAndStaysBelowItsLimit) {
  const auto recurrence = Recurrence::make({.when = "every 1m", .jitter = Millis(30'000)});
  ASSERT_TRUE(recurrence);
  Time nominal = moment("2026-01-01T00:00Z");
  int moved = 0;
  for (int i = 0; i < 100; ++i) {
    const Time at = recurrence->with_jitter("a", nominal);
    EXPECT_EQ(at, recurrence->with_jitter("a", nominal));
    EXPECT_GE(at, nominal);
    EXPECT_LT(at, nominal + Millis(30'000));
    if (at != recurrence->with_jitter("b", nominal)) ++moved;
    nominal = *recurrence->next(nominal);
  }
  EXPECT_GT(moved, 90);
  // Stores keep due times that were computed earlier, so these must stay.
  EXPECT_EQ(text_of(recurrence->with_jitter("report", moment("2026-01-01T00:00Z"))),
            "2026-01-01T00:00:22.517Z");
}

TEST(RecurrenceTest, LocalTimesHaveTheirOffset) {
  const auto local = [](const std::string& zone, const std::string& text) {
    return Recurrence::make({.when = "@daily", .zone = zone})->local_text(moment(text));
  };
  EXPECT_EQ(local("Europe/Berlin", "2026-03-29T01:00:00.999Z"), "2026-03-29T03:00:00+02:00");
  EXPECT_EQ(local("America/St_Johns", "2026-01-01T00:00Z"), "2025-12-31T20:30:00-03:30");
  EXPECT_EQ(local("Africa/Monrovia", "1971-01-01T00:00Z"), "1970-12-31T23:15:30-00:44:30");
  EXPECT_EQ(Recurrence::make({.when = "every 1h"})->local_text(moment("2026-01-01T00:00Z")),
            "2026-01-01T00:00:00+00:00");
}

std::string refused(const RecurrenceSpec& spec) {
  const auto recurrence = Recurrence::make(spec);
  return recurrence ? "accepted" : recurrence.error().message;
}

TEST(RecurrenceTest, RefusesWithValueAndLimit) {
  EXPECT_EQ(refused({.when = "* * * * *", .zone = "Europe/Atlantis"}),
            "there is no time zone \"Europe/Atlantis\"; use an IANA name such as Europe/Berlin, or "
            "UTC");
  for (const char* name : {"../passwd", "/etc/passwd", "right/UTC", "posixrules", "tzdata.zi", ".",
                           "Europe", "Europe/", "a b"}) {
    EXPECT_TRUE(refused({.when = "* * * * *", .zone = name}).starts_with("there is no time zone"))
        << name;
  }
  EXPECT_EQ(refused({.when = "@daily",
                     .start = moment("2026-01-02T00:00Z"),
                     .end = moment("2026-01-01T00:00Z")}),
            "the end 2026-01-01T00:00:00.000Z is before the start 2026-01-02T00:00:00.000Z");
  EXPECT_EQ(refused({.when = "@daily",
                     .start = moment("2026-01-01T00:00:01Z"),
                     .end = moment("2026-01-01T12:00Z")}),
            "\"@daily\" never comes between 2026-01-01T00:00:01.000Z and "
            "2026-01-01T12:00:00.000Z");
  EXPECT_EQ(refused({.when = "every 15m", .jitter = Millis(16 * 60'000)}),
            "jitter 16m is longer than the shortest interval between two occurrences, 15m");
  EXPECT_EQ(refused({.when = "0 0,1 * * *", .jitter = Millis(2 * 3'600'000)}),
            "jitter 2h is longer than the shortest interval between two occurrences, 1h");
  EXPECT_EQ(refused({.when = "every 15m", .jitter = Millis(15 * 60'000)}), "accepted");
  EXPECT_EQ(refused({.when = "every 500ms"}), "interval \"500ms\" must be from 1s to 3650d");
  EXPECT_EQ(refused({.when = "every 3651d"}), "interval \"3651d\" must be from 1s to 3650d");
  EXPECT_EQ(refused({.when = "every 1d", .zone = "UTC"}),
            "time zone \"UTC\": only cron expressions have one; \"every 1d\" is a fixed interval");
  EXPECT_EQ(refused({.when = "every 5"}).substr(0, 12), "duration \"5\"");
}

RC_GTEST_PROP(RecurrenceTest, NextIsAlwaysLaterAndSkipsNothing, ()) {
  const std::string when = *rc::gen::element<std::string>(
      "30 2 * * *", "*/7 * * * *", "0 0 L * *", "15 1,2,3 * * SUN", "every 37m", "0 0 29 2 *");
  const std::string zone = when.starts_with("every")
                               ? ""
                               : *rc::gen::element<std::string>(
                                     "Europe/Berlin", "Australia/Lord_Howe", "America/New_York",
                                     "Asia/Kathmandu", "UTC", "Africa/Casablanca");
  const auto recurrence = Recurrence::make({.when = when, .zone = zone});
  RC_ASSERT(recurrence.has_value());
  const Time from(Millis(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000)));
  const auto next = recurrence->next(from);
  RC_ASSERT(next.has_value());
  RC_ASSERT(*next > from);
  const auto between = (*next - from).count();
  const Time inside = from + Millis(*rc::gen::inRange<std::int64_t>(0, between));
  RC_ASSERT(recurrence->next(inside) == next);
}

}  // namespace
}  // namespace tarry::schedule
