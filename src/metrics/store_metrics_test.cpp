#include "metrics/store_metrics.h"

#include <string>

#include <gtest/gtest.h>

namespace tarry::metrics {
namespace {

constexpr Time kNow{Millis(1'767'225'600'000)};

QueueStats sample_queue(std::string name) {
  QueueStats queue;
  queue.queue = std::move(name);
  queue.scheduled = 3;
  queue.ready = 2;
  queue.oldest_ready = kNow - Millis(1'500);
  queue.counters.accepted = 7;
  queue.counters.acked = 2;
  queue.counters.run_outs = 1;
  return queue;
}

core::ClaimReply claim_of(std::string_view queue, std::int64_t lateness_ms,
                          std::uint32_t attempt = 1) {
  core::ClaimReply reply;
  core::ClaimedItem item;
  item.queue = core::append(reply.bytes, queue);
  item.due_ms = 1'000'000;
  item.claimed_ms = 1'000'000 + lateness_ms;
  item.attempt = attempt;
  reply.items.push_back(item);
  return reply;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::string text_of(const StoreStats& stats, StoreMeter& meter, std::string_view version = "1") {
  Exposition out;
  write_store_metrics(out, stats, meter, meter.lateness().replies(), kNow, version);
  return std::move(out).take();
}

std::string text_of(const StoreStats& stats, std::string_view version) {
  StoreMeter meter;
  return text_of(stats, meter, version);
}

TEST(Exposition, EscapesWhatALabelMayNotHold) {
  Exposition out;
  out.family("x", Kind::gauge, "Help.");
  out.sample({{"a", "q\"uo\\te\nline"}, {"b", ""}}, std::uint64_t{1});
  out.sample({}, 0.25);
  EXPECT_EQ(std::move(out).take(),
            "# HELP x Help.\n# TYPE x gauge\nx{a=\"q\\\"uo\\\\te\\nline\",b=\"\"} 1\nx 0.25\n");
}

TEST(StoreMetrics, TellWhatTheStoreTells) {
  StoreStats stats;
  stats.engine = "embedded";
  stats.queues.push_back(sample_queue("orders"));
  stats.syncs = 12;
  CommitTimes& times = stats.commit_times.emplace();
  times.sync.counts[1] = 4;
  times.sync.counts.back() = 1;
  times.sync.sum_seconds = 7.5;
  const std::string text = text_of(stats, "1.2.3");
  EXPECT_TRUE(has_line(text, R"(tarry_build_info{version="1.2.3",engine="embedded"} 1)"));
  EXPECT_TRUE(has_line(text, R"(tarry_messages{queue="orders",state="scheduled"} 3)"));
  EXPECT_TRUE(has_line(text, R"(tarry_oldest_due_age_seconds{queue="orders"} 1.5)"));
  EXPECT_TRUE(has_line(text, R"(tarry_pushes_total{queue="orders"} 7)"));
  EXPECT_TRUE(has_line(text, R"(tarry_settles_total{queue="orders",outcome="ack"} 2)"));
  EXPECT_TRUE(has_line(text, R"(tarry_lease_run_outs_total{queue="orders"} 1)"));
  EXPECT_TRUE(has_line(text, "tarry_journal_syncs_total 12"));
  EXPECT_TRUE(has_line(text, R"(tarry_commit_seconds_bucket{step="sync",le="0.0001"} 4)"));
  EXPECT_TRUE(has_line(text, R"(tarry_commit_seconds_bucket{step="sync",le="5"} 4)"));
  EXPECT_TRUE(has_line(text, R"(tarry_commit_seconds_count{step="sync"} 5)"));
  EXPECT_TRUE(has_line(text, R"(tarry_commit_seconds_sum{step="sync"} 7.5)"));
  EXPECT_TRUE(has_line(text, R"(tarry_commit_seconds_count{step="gather"} 0)"));
}

TEST(StoreMetrics, OnRedisTellOfItAndNothingOfAJournal) {
  StoreStats stats;
  stats.engine = "redis";
  stats.round_trips = 7;
  stats.connections = 2;
  const std::string text = text_of(stats, "1");
  EXPECT_EQ(text.find("tarry_journal"), std::string::npos);
  EXPECT_EQ(text.find("tarry_commit"), std::string::npos);
  EXPECT_TRUE(has_line(text, "tarry_redis_round_trips_total 7"));
  EXPECT_TRUE(has_line(text, "tarry_redis_connections_total 2"));
}

TEST(StoreMetrics, LatenessCountsEachBucketWithThoseBelow) {
  StoreMeter meter;
  meter.lateness().claimed(claim_of("orders", 0));
  meter.lateness().claimed(claim_of("orders", -3));
  meter.lateness().claimed(claim_of("orders", 5));  // exactly a bucket's bound
  meter.lateness().claimed(claim_of("orders", 400'000));
  meter.lateness().claimed(claim_of("orders", 70, 2));  // a retry, whose lateness does not count
  StoreStats stats;
  stats.queues.push_back(sample_queue("orders"));
  const std::string text = text_of(stats, meter);
  EXPECT_TRUE(has_line(text, R"(tarry_lateness_seconds_bucket{queue="orders",le="0.001"} 2)"));
  EXPECT_TRUE(has_line(text, R"(tarry_lateness_seconds_bucket{queue="orders",le="0.0025"} 2)"));
  EXPECT_TRUE(has_line(text, R"(tarry_lateness_seconds_bucket{queue="orders",le="0.005"} 3)"));
  EXPECT_TRUE(has_line(text, R"(tarry_lateness_seconds_bucket{queue="orders",le="300"} 3)"));
  EXPECT_TRUE(has_line(text, R"(tarry_lateness_seconds_bucket{queue="orders",le="+Inf"} 4)"));
  EXPECT_TRUE(has_line(text, R"(tarry_lateness_seconds_sum{queue="orders"} 400.005)"));
  EXPECT_TRUE(has_line(text, R"(tarry_lateness_seconds_count{queue="orders"} 4)"));
}

TEST(StoreMetrics, QueuesBeyondTheLimitAreCountedTogether) {
  constexpr std::size_t kQueues = kMaxMeteredQueues + 5;
  StoreStats stats;
  StoreMeter meter;
  for (std::size_t i = 0; i < kQueues; ++i) {
    const std::string name = "q" + std::to_string(10'000 + i);
    stats.queues.push_back(sample_queue(name));
    meter.lateness().claimed(claim_of(name, 1));
  }
  const std::string text = text_of(stats, meter);
  EXPECT_TRUE(has_line(text, "tarry_queues " + std::to_string(kQueues)));
  EXPECT_TRUE(has_line(text, R"(tarry_pushes_total{queue="q10000"} 7)"));
  EXPECT_TRUE(has_line(text, R"(tarry_pushes_total{queue="*"} 35)"));
  EXPECT_TRUE(has_line(text, R"(tarry_oldest_due_age_seconds{queue="*"} 1.5)"));
  EXPECT_TRUE(has_line(text, R"(tarry_lateness_seconds_count{queue="*"} 5)"));
  EXPECT_EQ(text.find("q11001"), std::string::npos);
}

TEST(StoreMetrics, WhatTheOthersCountNeverFallsWhicheverQueuesComeAndGo) {
  StoreStats stats;
  StoreMeter meter;
  for (std::size_t i = 0; i < kMaxMeteredQueues + 2; ++i) {
    stats.queues.push_back(sample_queue("q" + std::to_string(10'000 + i)));
  }
  EXPECT_TRUE(has_line(text_of(stats, meter), R"(tarry_pushes_total{queue="*"} 14)"));
  // Adds a queue that sorts before all others, and a push to one of the queues that are counted
  // together.
  stats.queues.push_back(sample_queue("a"));
  stats.queues[kMaxMeteredQueues].counters.accepted = 10;
  std::string text = text_of(stats, meter);
  EXPECT_TRUE(has_line(text, R"(tarry_pushes_total{queue="*"} 24)"));
  EXPECT_EQ(text.find(R"(queue="a")"), std::string::npos);
  // Removes all queues that are counted together; their counts stay. A queue that was counted alone
  // makes room for "new".
  stats.queues.erase(stats.queues.begin() + kMaxMeteredQueues, stats.queues.end());
  stats.queues.front() = sample_queue("new");
  text = text_of(stats, meter);
  EXPECT_TRUE(has_line(text, R"(tarry_pushes_total{queue="*"} 24)"));
  EXPECT_TRUE(has_line(text, R"(tarry_messages{queue="*",state="scheduled"} 0)"));
  EXPECT_TRUE(has_line(text, R"(tarry_pushes_total{queue="new"} 7)"));
  EXPECT_EQ(text.find(R"(queue="q10000")"), std::string::npos);
}

TEST(StoreMetrics, AQueueThatIsGoneLeavesNoLateness) {
  StoreMeter meter;
  meter.lateness().claimed(claim_of("orders", 1));
  StoreStats stats;
  stats.queues.push_back(sample_queue("orders"));
  EXPECT_NE(text_of(stats, meter).find(R"(count{queue="orders"})"), std::string::npos);
  EXPECT_EQ(text_of({}, meter).find(R"(queue="orders")"), std::string::npos);
}

TEST(StoreMetrics, AQueueThatIsNewerThanTheLookIsNotForgotten) {
  StoreMeter meter;
  const std::uint64_t before = meter.lateness().replies();
  meter.lateness().claimed(claim_of("orders", 1));
  Exposition out;
  write_store_metrics(out, {}, meter, before, kNow, "1");
  EXPECT_EQ(meter.lateness().lateness().at("orders").count(), 1u);
}

}  // namespace
}  // namespace tarry::metrics
