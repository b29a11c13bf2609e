#include "app/pictures/top_reading.h"

#include <gtest/gtest.h>

#include <limits>

namespace tarry::app {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(TopReading, BucketsOfEachQueueAreRead) {
  const auto lateness = parse_lateness(
      "# HELP tarry_lateness_seconds x\n"
      "tarry_lateness_seconds_bucket{queue=\"a\",le=\"0.0025\"} 3\n"
      "tarry_lateness_seconds_bucket{queue=\"a\",le=\"+Inf\"} 4\n"
      "tarry_lateness_seconds_count{queue=\"a\"} 4\n"
      "tarry_lateness_seconds_bucket{queue=\"b\",le=\"1\"} 5");
  EXPECT_EQ(lateness.at("a"), (LatenessBuckets{{0.0025, 3}, {kInfinite, 4}}));
  EXPECT_EQ(lateness.at("b"), (LatenessBuckets{{1, 5}}));
  EXPECT_EQ(lateness.size(), 2u);
}

TEST(TopReading, WhatIsNoBucketIsPassedOver) {
  for (const char* line : {"tarry_lateness_seconds_bucket{", "tarry_lateness_seconds_bucket{} 1",
                           "tarry_lateness_seconds_bucket{queue=\"a\"} 1",
                           "tarry_lateness_seconds_bucket{queue=\"a\",le=\"x\"} 1",
                           "tarry_lateness_seconds_bucket{queue=\"a\",le=\"1\"} -1",
                           "tarry_lateness_seconds_bucket{queue=\"a\",le=\"1} 1",
                           "tarry_lateness_seconds_bucket{queue=\"a\",le=\"1\"}"}) {
    EXPECT_TRUE(parse_lateness(line).empty()) << line;
  }
}

TEST(TopReading, QuantilesAreBoundsOfWhatCameSince) {
  const LatenessBuckets before{{0.001, 100}, {0.01, 100}, {kInfinite, 100}};
  const LatenessBuckets now{{0.001, 150}, {0.01, 198}, {kInfinite, 200}};
  EXPECT_EQ(quantile(before, now, 0.5)->ms, 1);
  EXPECT_EQ(quantile(before, now, 0.51)->ms, 10);
  EXPECT_FALSE(quantile(before, now, 0.98)->above);
  EXPECT_EQ(quantile(before, now, 0.99)->ms, 10);
  EXPECT_TRUE(quantile(before, now, 0.99)->above);
  EXPECT_FALSE(quantile(now, now, 0.5));
  EXPECT_FALSE(quantile({}, {}, 0.5));
  EXPECT_FALSE(quantile(now, before, 0.5));  // the server's counters started again
}

TEST(TopReading, RatesAreOfTheTimeBetween) {
  TopReading before;
  before.queues.resize(1);
  before.queues[0].queue = "a";
  before.queues[0].counters.accepted = 100;
  TopReading now = before;
  now.at += std::chrono::seconds(4);
  now.queues[0].counters.accepted = 108;
  now.queues[0].counters.acked = 2;
  now.queues[0].counters.buries = 2;
  const auto rows = top_rows(&before, now);
  EXPECT_EQ(rows.at(0).pushes, 2.0);
  EXPECT_EQ(rows.at(0).settles, 1.0);
  EXPECT_EQ(rows.at(0).claims, 0.0);
  EXPECT_FALSE(top_rows(nullptr, now).at(0).pushes);
}

TEST(TopReading, AllColumnsFitAnOrdinaryTerminal) {
  TopRow row{.queue = "five5",
             .pending = 123'456,
             .due = 1'234,
             .leased = 1'000,
             .dead = 120,
             .paused = true,
             .pushes = 18'743,
             .claims = 18'743,
             .settles = 18'743,
             .p50 = Quantile{2.5, false},
             .p99 = Quantile{250, false}};
  EXPECT_EQ(top_table({row}, 80),
            "QUEUE PENDING   DUE LEASED DEAD HELD   PUSH/S CLAIM/S SETTLE/S LATE P50 LATE P99\n"
            "five5 123,456 1,234  1,000  120 paused 18,743  18,743   18,743  <=2.5ms  <=250ms\n");
}

TEST(TopReading, TellsWhatHoldsAQueueAndWhichCannotBeRead) {
  TopReading now;
  now.queues.resize(3);
  now.queues[0].queue = "mails";
  now.queues[0].paused = true;
  now.queues[0].paused_until = Time(Millis(1'600'000'000'000));
  now.queues[1].queue = "orders";
  now.queues[2].queue = "sms";
  now.queues[2].leased = now.queues[2].settings.max_leased = 5;
  now.unreadable.push_back({"broken", {ErrorCode::damaged, "its settings\ndo not read"}});
  const auto rows = top_rows(nullptr, now);
  EXPECT_EQ(top_table(rows, 0),
            "QUEUE   PENDING  DUE  LEASED  DEAD  HELD    PUSH/S  CLAIM/S  SETTLE/S  LATE P50  LATE "
            "P99\n"
            "mails         0    0       0     0  paused       -        -         -         -       "
            "  -\n"
            "orders        0    0       0     0  no           -        -         -         -       "
            "  -\n"
            "sms           0    0       5     0  limit        -        -         -         -       "
            "  -\n"
            "broken        ?    ?       ?     ?  ?            -        -         -         -       "
            "  -\n"
            "broken cannot be read: its settings\\ndo not read\n");
  std::string text;
  wire::JsonWriter json(text);
  write_top(json, rows);
  EXPECT_EQ(text, R"({"queues":[{"queue":"mails","pending":0,"due":0,"leased":0,"dead":0,)"
                  R"("paused":true,"paused_until":"2020-09-13T12:26:40.000Z",)"
                  R"("paused_until_ms":1600000000000,"limited":false},)"
                  R"({"queue":"orders","pending":0,"due":0,"leased":0,"dead":0,"paused":false,)"
                  R"("limited":false},)"
                  R"({"queue":"sms","pending":0,"due":0,"leased":5,"dead":0,"paused":false,)"
                  R"("limited":true}],)"
                  R"("unreadable":[{"queue":"broken","error":{"code":"damaged",)"
                  R"("message":"its settings\ndo not read"}}]})");
}

}  // namespace
}  // namespace tarry::app
