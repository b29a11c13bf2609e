#include "schedule/calendar/cron.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "base/text/text.h"
#include "schedule/calendar/civil.h"

namespace tarry::schedule {
namespace {

constexpr LocalSeconds kFar = 40'000 * kDaySeconds;

LocalSeconds local(const std::string& text) { return *base::parse_time_ms(text + "Z") / 1000; }

std::string text_of(LocalSeconds at) { return base::format_time_ms(at * 1000).substr(0, 19); }

std::vector<std::string> times(const std::string& expression, const std::string& from, int count) {
  const auto cron = Cron::parse(expression);
  if (!cron) return {cron.error().message};
  std::vector<std::string> found;
  LocalSeconds at = local(from);
  while (count-- > 0) {
    const auto next = cron->next(at, kFar);
    if (!next) return found;
    found.push_back(text_of(*next));
    at = *next + 1;
  }
  return found;
}

using Texts = std::vector<std::string>;

TEST(CronTest, FieldsAreNumbersRangesStepsAndNames) {
  const std::string from = "2026-01-01T00:00:00";
  EXPECT_EQ(times("5 4 * * *", from, 2), (Texts{"2026-01-01T04:05:00", "2026-01-02T04:05:00"}));
  EXPECT_EQ(times("10-30/10 0 1 * *", from, 4),
            (Texts{"2026-01-01T00:10:00", "2026-01-01T00:20:00", "2026-01-01T00:30:00",
                   "2026-02-01T00:10:00"}));
  EXPECT_EQ(times("50/5 0 * * *", from, 3),
            (Texts{"2026-01-01T00:50:00", "2026-01-01T00:55:00", "2026-01-02T00:50:00"}));
  EXPECT_EQ(times("0 0 1 jan,MAR *", from, 3),
            (Texts{"2026-01-01T00:00:00", "2026-03-01T00:00:00", "2027-01-01T00:00:00"}));
  EXPECT_EQ(times("0 9 * * MON-FRI", "2026-01-02T09:00:01", 1), (Texts{"2026-01-05T09:00:00"}));
  EXPECT_EQ(times("0 9 * * SAT-SUN", from, 2),
            (Texts{"2026-01-03T09:00:00", "2026-01-04T09:00:00"}));
  EXPECT_EQ(times("0 9 * * 7", from, 1), times("0 9 * * 0", from, 1));
}

TEST(CronTest, SixFieldsBeginWithTheSecond) {
  EXPECT_EQ(times("*/30 * * * * *", "2026-01-01T00:00:01", 2),
            (Texts{"2026-01-01T00:00:30", "2026-01-01T00:01:00"}));
  EXPECT_EQ(times("7 59 23 31 12 *", "2026-01-01T00:00:00", 1), (Texts{"2026-12-31T23:59:07"}));
}

TEST(CronTest, LastDays) {
  EXPECT_EQ(times("0 0 L 2 *", "2026-01-01T00:00:00", 3),
            (Texts{"2026-02-28T00:00:00", "2027-02-28T00:00:00", "2028-02-29T00:00:00"}));
  EXPECT_EQ(times("0 0 L-2 4 *", "2026-01-01T00:00:00", 1), (Texts{"2026-04-28T00:00:00"}));
  EXPECT_EQ(times("0 0 * * FRIL", "2026-01-01T00:00:00", 2),
            (Texts{"2026-01-30T00:00:00", "2026-02-27T00:00:00"}));
}

TEST(CronTest, NearestWeekdayStaysInItsMonth) {
  // 1 August 2026 is a Saturday, 31 May a Sunday, 15 November a Sunday.
  EXPECT_EQ(times("0 0 1W 8 *", "2026-01-01T00:00:00", 1), (Texts{"2026-08-03T00:00:00"}));
  EXPECT_EQ(times("0 0 31W 5 *", "2026-01-01T00:00:00", 1), (Texts{"2026-05-29T00:00:00"}));
  EXPECT_EQ(times("0 0 15W 11 *", "2026-01-01T00:00:00", 1), (Texts{"2026-11-16T00:00:00"}));
  EXPECT_EQ(times("0 0 LW 5 *", "2026-01-01T00:00:00", 1), (Texts{"2026-05-29T00:00:00"}));
  EXPECT_EQ(times("0 0 LW 8 *", "2026-01-01T00:00:00", 1), (Texts{"2026-08-31T00:00:00"}));
}

TEST(CronTest, NthWeekday) {
  EXPECT_EQ(times("0 0 * * TUE#2", "2026-01-01T00:00:00", 2),
            (Texts{"2026-01-13T00:00:00", "2026-02-10T00:00:00"}));
  EXPECT_EQ(times("0 0 * * 5#5", "2026-01-01T00:00:00", 2),
            (Texts{"2026-01-30T00:00:00", "2026-05-29T00:00:00"}));
}

TEST(CronTest, EitherDayFieldIsEnoughUnlessOneBeginsWithAStar) {
  EXPECT_EQ(times("0 0 13 * FRI", "2026-01-01T00:00:00", 3),
            (Texts{"2026-01-02T00:00:00", "2026-01-09T00:00:00", "2026-01-13T00:00:00"}));
  EXPECT_EQ(times("0 0 */2 * FRI", "2026-01-01T00:00:00", 2),
            (Texts{"2026-01-09T00:00:00", "2026-01-23T00:00:00"}));
  EXPECT_EQ(times("0 0 13 * ?", "2026-01-01T00:00:00", 1), (Texts{"2026-01-13T00:00:00"}));
}

TEST(CronTest, ShortForms) {
  const std::string from = "2026-03-04T05:06:07";
  EXPECT_EQ(times("@hourly", from, 1), (Texts{"2026-03-04T06:00:00"}));
  EXPECT_EQ(times("@daily", from, 1), (Texts{"2026-03-05T00:00:00"}));
  EXPECT_EQ(times("@midnight", from, 1), (Texts{"2026-03-05T00:00:00"}));
  EXPECT_EQ(times("@Weekly", from, 1), (Texts{"2026-03-08T00:00:00"}));
  EXPECT_EQ(times("@monthly", from, 1), (Texts{"2026-04-01T00:00:00"}));
  EXPECT_EQ(times("@yearly", from, 1), (Texts{"2027-01-01T00:00:00"}));
  EXPECT_EQ(times("@annually", from, 1), (Texts{"2027-01-01T00:00:00"}));
}

TEST(CronTest, RareDaysAreFound) {
  EXPECT_EQ(times("0 0 29 2 *", "2097-01-01T00:00:00", 0), Texts());
  const auto cron = Cron::parse("0 0 29 2 *");
  ASSERT_TRUE(cron);
  EXPECT_EQ(text_of(*cron->next(local("2096-03-01T00:00:00"), 60'000 * kDaySeconds)),
            "2104-02-29T00:00:00");
}

std::string refusal(const std::string& expression) {
  const auto cron = Cron::parse(expression);
  if (cron) return "accepted";
  EXPECT_EQ(cron.error().code, ErrorCode::invalid_argument);
  const std::string begin = "cron expression " + base::quoted(expression) + ": ";
  EXPECT_TRUE(cron.error().message.starts_with(begin)) << cron.error().message;
  return cron.error().message.substr(begin.size());
}

TEST(CronTest, RefusesWithValueAndLimit) {
  EXPECT_EQ(refusal("0 0 30 2 *"), "such a day never comes");
  EXPECT_EQ(refusal("0 0 31 2,4,6,9,11 *"), "such a day never comes");
  EXPECT_EQ(refusal("61 * * * *"), "minute \"61\" must be from 0 to 59");
  EXPECT_EQ(refusal("*/61 * * * *"), "minute: step \"61\" must be from 1 to 59");
  EXPECT_EQ(refusal("*/0 * * * *"), "minute: step \"0\" must be from 1 to 59");
  EXPECT_EQ(refusal("* 24 * * *"), "hour \"24\" must be from 0 to 23");
  EXPECT_EQ(refusal("60 * * * * *"), "second \"60\" must be from 0 to 59");
  EXPECT_EQ(refusal("* * 0 * *"), "day of month \"0\" must be from 1 to 31");
  EXPECT_EQ(refusal("* * * 13 *"), "month \"13\" must be from 1 to 12, or a name from JAN to DEC");
  EXPECT_EQ(refusal("* * * * 8"),
            "day of week \"8\" must be from 0 to 7, or a name from SUN to SAT");
  EXPECT_EQ(refusal("5-1 * * * *"), "minute \"5-1\": the range runs backwards");
  EXPECT_EQ(refusal("* * * * FRI#6"),
            "day of week \"FRI#6\": the number after # must be from 1 to 5");
  EXPECT_EQ(refusal("* * * * L"), "day of week \"L\" needs a day, as in FRIL");
  EXPECT_EQ(refusal("* * L-31 * *"), "day of month \"L-31\": L-N must be from L-1 to L-30");
  EXPECT_EQ(refusal("* * 32W * *"), "day of month \"32\" must be from 1 to 31");
  EXPECT_EQ(refusal("1,, * * * *"), "minute \"\" must be from 0 to 59");
  EXPECT_EQ(refusal("* * * *").substr(0, 15), "it has 4 fields");
  EXPECT_EQ(refusal("").substr(0, 15), "it has 0 fields");
  EXPECT_EQ(refusal("@reboot").substr(0, 17), "there are @hourly");
}

/// The first match, found by trying every second.
LocalSeconds slow_next(const Cron& cron, LocalSeconds at) {
  for (;; ++at) {
    const std::int64_t day = day_of(at);
    const std::int64_t second = at - day * kDaySeconds;
    if (!cron.days.matches(date_of(day))) {
      at = (day + 1) * kDaySeconds - 1;
    } else if ((cron.hours >> (second / 3600) & 1U) != 0 &&
               (cron.minutes >> (second / 60 % 60) & 1U) != 0 &&
               (cron.seconds >> (second % 60) & 1U) != 0) {
      return at;
    }
  }
}

RC_GTEST_PROP(CronTest, NextIsTheFirstOfAllSeconds, ()) {
  Cron cron;
  cron.seconds = std::uint64_t{1} << *rc::gen::inRange(0, 60);
  cron.minutes = std::uint64_t{1} << *rc::gen::inRange(0, 60) | std::uint64_t{1}
                                                                    << *rc::gen::inRange(0, 60);
  cron.hours = 1U << *rc::gen::inRange(0, 24) | 1U << *rc::gen::inRange(0, 24);
  cron.days.months = 0x1FFEU;
  cron.days.days = 1U << *rc::gen::inRange(1, 29);
  cron.days.weekdays = 1U << *rc::gen::inRange(0, 7);
  cron.days.either = true;
  const LocalSeconds from = *rc::gen::inRange<LocalSeconds>(0, kFar / 2);
  RC_ASSERT(*cron.next(from, kFar) == slow_next(cron, from));
  RC_ASSERT(!cron.next(from, slow_next(cron, from)));
}

RC_GTEST_PROP(CronTest, AnyTextIsReadOrRefused, (const std::string& text)) {
  static_cast<void>(Cron::parse(text));
}

RC_GTEST_PROP(CronTest, AnyFieldsAreReadOrRefused, ()) {
  const auto letters =
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789*/-,LW#?FRIJAN ")));
  static_cast<void>(Cron::parse(*letters + " 0 " + *letters + " * " + *letters));
}

}  // namespace
}  // namespace tarry::schedule
