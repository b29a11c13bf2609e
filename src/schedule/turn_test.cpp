#include "schedule/turn.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "base/text/text.h"
#include "schedule/names.h"

namespace tarry::schedule {
namespace {

Time instant(const std::string& text) { return Time(Millis(*base::parse_time_ms(text))); }

Definition every(const std::string& when, Missed missed) {
  Definition definition;
  definition.name = "a";
  definition.recurrence.when = when;
  definition.queue = "q";
  definition.missed = missed;
  return definition;
}

std::string turn_text(const Definition& definition, const std::string& after,
                      const std::string& now) {
  const auto recurrence = Recurrence::make(definition.recurrence);
  const Turn turn = turn_at(definition, *recurrence, instant(after), instant(now));
  std::string text;
  for (const Time time : turn.occurrences) {
    text += base::format_time_ms(time.time_since_epoch().count()).substr(11, 8) + " ";
  }
  if (turn.next) {
    text += "next " + base::format_time_ms(turn.next->time_since_epoch().count()).substr(11, 8);
  }
  return text;
}

TEST(TurnTest, WhatIsOnTimeIsPushedWhateverThePolicy) {
  for (const Missed missed : {Missed::skip, Missed::one, Missed::all}) {
    EXPECT_EQ(
        turn_text(every("every 15m", missed), "2026-01-01T00:14:59.999Z", "2026-01-01T00:15:00Z"),
        "00:15:00 next 00:30:00");
    EXPECT_EQ(turn_text(every("every 20s", missed), "2026-01-01T00:00:00Z", "2026-01-01T00:01:10Z"),
              "00:00:20 00:00:40 00:01:00 next 00:01:20");
    // From the lead on, and no sooner.
    EXPECT_EQ(
        turn_text(every("every 15m", missed), "2026-01-01T00:00:00Z", "2026-01-01T00:14:59.749Z"),
        "next 00:15:00");
    EXPECT_EQ(
        turn_text(every("every 15m", missed), "2026-01-01T00:00:00Z", "2026-01-01T00:14:59.750Z"),
        "00:15:00 next 00:30:00");
  }
}

TEST(TurnTest, ThePolicySaysWhatBecomesOfMissedOnes) {
  const std::string after = "2026-01-01T00:00:00Z";
  const std::string now = "2026-01-01T01:10:00Z";
  EXPECT_EQ(turn_text(every("every 15m", Missed::skip), after, now), "next 01:15:00");
  EXPECT_EQ(turn_text(every("every 15m", Missed::one), after, now), "01:00:00 next 01:15:00");
  EXPECT_EQ(turn_text(every("every 15m", Missed::all), after, now),
            "00:15:00 00:30:00 00:45:00 01:00:00 next 01:15:00");
}

TEST(TurnTest, YearsOfMissedOccurrencesTakeNoTime) {
  EXPECT_EQ(
      turn_text(every("every 1s", Missed::skip), "1990-01-01T00:00:00Z", "2026-01-01T00:00:00.500Z")
          .substr(0, 18),
      "23:59:01 23:59:02 ");
  EXPECT_EQ(
      turn_text(every("0 0 29 2 *", Missed::one), "1980-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
      "00:00:00 next 00:00:00");
  const auto definition = every("every 1s", Missed::all);
  const Turn turn = turn_at(definition, *Recurrence::make(definition.recurrence),
                            instant("1990-01-01T00:00:00Z"), instant("2026-01-01T00:00:00Z"));
  EXPECT_EQ(turn.occurrences.size(), kMaxOccurrences);
  EXPECT_EQ(*turn.next, turn.occurrences.back() + Millis(1'000));
}

TEST(TurnTest, APausedScheduleGoesOnWithoutOccurrences) {
  auto definition = every("every 15m", Missed::all);
  definition.paused = true;
  EXPECT_EQ(turn_text(definition, "2026-01-01T00:00:00Z", "2026-01-01T01:10:00Z"), "next 01:15:00");
}

TEST(TurnTest, AfterTheEndThereIsNoTimer) {
  auto definition = every("every 15m", Missed::one);
  definition.recurrence.end = instant("2026-01-01T00:15:00Z");
  EXPECT_EQ(turn_text(definition, "2026-01-01T00:00:00Z", "2026-01-01T00:15:00Z"), "00:15:00 ");
}

// With the policy `all`, turns at any moments together push each occurrence once.
RC_GTEST_PROP(TurnTest, TurnsLeaveOutNothing, ()) {
  auto definition = every(
      *rc::gen::element<std::string>("*/7 * * * *", "every 13m", "30 1,2,3 * * *", "every 1s"),
      Missed::all);
  // With their jitter, several occurrences of every second fall into one lead.
  const bool is_fast = definition.recurrence.when == "every 1s";
  if (!definition.recurrence.when.starts_with("every")) {
    definition.recurrence.zone = "Europe/Berlin";
  }
  definition.recurrence.jitter = Millis(*rc::gen::inRange(0, is_fast ? 1'000 : 120'000));
  const auto recurrence = *Recurrence::make(definition.recurrence);
  const Time begin = instant("2026-03-28T20:00:00Z");
  std::vector<Time> pushed;
  Time after = begin;
  Time now = begin;
  Time until = begin;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20'000))) {
    now += Millis(is_fast ? step : step * 1'000);
    until = now + kLead;
    const Turn turn = turn_at(definition, recurrence, after, now);
    for (const Time time : turn.occurrences) {
      RC_ASSERT(recurrence.with_jitter("a", time) <= until);
      pushed.push_back(time);
    }
    if (!turn.next) break;
    RC_ASSERT(timer_due(recurrence, "a", *turn.next) > now);
    after = *turn.next - Millis(1);
  }
  std::vector<Time> all;
  for (auto time = recurrence.next(begin); time && recurrence.with_jitter("a", *time) <= until;
       time = recurrence.next(*time)) {
    all.push_back(*time);
  }
  RC_ASSERT(pushed == all);
}

TEST(NamesTest, ATimersKeyNamesItsScheduleAndTime) {
  const Time time = instant("2026-03-29T01:00:00Z");
  EXPECT_EQ(occurrence_key("report", time), "report@2026-03-29T01:00:00Z");
  EXPECT_EQ(occurrence_key("report", time + Millis(1)), "report@2026-03-29T01:00:00.001Z");
  const auto timer = parse_timer("report@2026-03-29T01:00:00Z");
  ASSERT_TRUE(timer);
  EXPECT_EQ(timer->name, "report");
  EXPECT_EQ(timer->nominal, time);
  const std::string first = first_timer_key("report");
  EXPECT_NE(first, first_timer_key("report"));
  ASSERT_TRUE(parse_timer(first));
  EXPECT_FALSE(parse_timer(first)->nominal);
  for (const char* key : {"", "report", "@2026-03-29T01:00:00Z", "report@", "report@run.5",
                          "report@1774746000000", "report@2026-03-29"}) {
    EXPECT_FALSE(parse_timer(key)) << key;
  }
}

TEST(DefinitionTest, IsReadBackAsItWas) {
  auto definition = every("0 9 * * MON", Missed::skip);
  definition.recurrence.zone = "Europe/Berlin";
  definition.recurrence.start = instant("2026-01-01T00:00:00Z");
  definition.recurrence.end = instant("2027-01-01T00:00:00Z");
  definition.recurrence.jitter = Millis(60'000);
  definition.payload = std::string("\xff\0x", 3);
  definition.headers = {{"a", "b"}, {"a", "c"}};
  definition.priority = 7;
  definition.paused = true;
  const auto read = decode("a", encode(definition), wire::Unknown::refused);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, definition);
  EXPECT_EQ(*decode("a", R"({"when":"every 15m","queue":"q"})", wire::Unknown::refused),
            every("every 15m", Missed::one));
}

TEST(DefinitionTest, RefusesWithValueAndLimit) {
  const auto refusal = [](const std::string& json) {
    const auto read = decode("a", json, wire::Unknown::refused);
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_NE(refusal(R"({"queue":"q"})").find("when"), std::string::npos);
  EXPECT_NE(refusal(R"({"when":"@daily"})").find("queue"), std::string::npos);
  EXPECT_NE(refusal(R"({"when":"@daily","queue":"q","missed":"none"})").find("skip, one, all"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"when":"@daily","queue":"q","zones":"UTC"})").find("zones"),
            std::string::npos);
  for (const char* name : {"", "a b", "a@b", "a/b"}) {
    auto definition = every("@daily", Missed::one);
    definition.name = name;
    EXPECT_FALSE(check(definition)) << name;
  }
  auto definition = every("@daily", Missed::one);
  EXPECT_TRUE(check(definition));
  definition.name = std::string(129, 'a');
  EXPECT_FALSE(check(definition));
}

}  // namespace
}  // namespace tarry::schedule
