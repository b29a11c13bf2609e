// A claim reports due times in runs (scripts/runs.lua, claim_fast.lua): close together or far
// apart, with a past or without, each message keeps its own.
#include <future>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "engines/redis/records/body.h"
#include "engines/redis/verbs/claim_reply.h"
#include "net/redis/protocol/redis_reader.h"
#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

struct ClaimedOnce {
  std::int64_t due_ms;
  std::uint32_t attempt;
};

class ClaimRunsTest : public ::testing::TestWithParam<int>, public testing::OneRedisEngine {
 protected:
  static constexpr std::int64_t kLeaseMs = 30'000;

  // `count` messages, each ms of the next `spread_ms` in turn.
  void push(const std::string& name, int count, int spread_ms) {
    core::PushRequest request;
    request.queue = "q";
    for (int i = 0; i < count; ++i) {
      const std::string key = name + std::to_string(i);
      core::PushItem item;
      item.key = core::append(request.bytes, key);
      dues_[key] = timing::ManualClock::kStart.realtime_ms + i % spread_ms;
      item.due = Due::at(Time(Millis(dues_[key])));
      request.items.push_back(item);
    }
    for (const auto& item : asked<core::PushReply>(std::move(request)).items) {
      EXPECT_EQ(item.outcome, Outcome::pushed);
    }
  }

  core::ClaimReply claim(std::uint32_t max) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = max;
    request.lease = Millis(kLeaseMs);
    return asked<core::ClaimReply>(std::move(request));
  }

  std::map<std::string, ClaimedOnce> claim_all(std::uint32_t max) {
    std::map<std::string, ClaimedOnce> all;
    std::int64_t last = 0;
    for (;;) {
      const core::ClaimReply reply = claim(max);
      if (reply.items.empty()) return all;
      for (const core::ClaimedItem& item : reply.items) {
        EXPECT_GE(item.due_ms, last);
        last = item.due_ms;
        const std::string key(core::view(reply.bytes, item.key));
        EXPECT_TRUE(all.emplace(key, ClaimedOnce{item.due_ms, item.attempt}).second) << key;
      }
    }
  }

  std::map<std::string, std::int64_t> dues_;
};

TEST_P(ClaimRunsTest, EachMessageKeepsItsDueTimeAndItsAttempts) {
  const int spread_ms = GetParam();
  push("old", 300, spread_ms);
  clock_->advance(spread_ms);

  // A third of the messages is acked, a third is released, and a third's leases run out.
  const core::ClaimReply first = claim(300);
  ASSERT_EQ(first.items.size(), 300u);
  core::SettleRequest settle;
  std::map<std::string, std::uint32_t> attempts;
  for (std::size_t i = 0; i < first.items.size(); ++i) {
    const std::string key(core::view(first.bytes, first.items[i].key));
    if (i % 3 == 2) {
      attempts[key] = 2;
      continue;
    }
    core::SettleItem item;
    item.receipt = core::append(settle.bytes, core::view(first.bytes, first.items[i].receipt));
    item.action = i % 3 == 0 ? core::SettleAction::ack : core::SettleAction::release;
    settle.items.push_back(item);
    if (i % 3 == 1) attempts[key] = 1;
  }
  (void)asked<core::ItemsReply>(std::move(settle));
  clock_->advance(kLeaseMs);

  push("new", 200, spread_ms);
  for (int i = 0; i < 200; ++i) attempts["new" + std::to_string(i)] = 1;
  const auto claimed = claim_all(64);
  EXPECT_EQ(claimed.size(), attempts.size());
  for (const auto& [key, attempt] : attempts) {
    const auto found = claimed.find(key);
    ASSERT_NE(found, claimed.end()) << key;
    EXPECT_EQ(found->second.due_ms, dues_.at(key)) << key;
    EXPECT_EQ(found->second.attempt, attempt) << key;
  }
}

// The answer has two messages and only one score. The reply must be as it was before.
TEST(ReadClaim, AnAnswerThatIsRefusedLeavesNothingBehind) {
  const auto bulk = [](std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
  };
  std::string bodies = "*2\r\n";
  for (const std::string_view member : {"a", "b"}) {
    Body body;
    body.id = 1;
    body.payload = "p";
    std::string text;
    append_head(text, body, member);
    bodies += bulk(text + "p");
  }
  const auto read = [&](char of_the_score, core::ClaimReply& into, std::size_t most = 2) {
    const std::string entry =
        std::string("\x92\xa1") + "a\xa1" + "b\x92\xa3" + "900" + of_the_score;
    net::RedisReader reader(1 << 20);
    reader.feed("*7\r\n:1000\r\n:2000\r\n" + bulk("1000-1") + bulk(entry) + bodies + "$-1\r\n" +
                bulk(""));
    const auto reply = reader.next();
    EXPECT_TRUE(reply);
    const auto places = make_places("q", 1, {1, "g", 0}, 16);
    base::Histogram lateness;
    const bool taken = reply && read_claim(reply->view(), places[0], 1, most, into, lateness);
    EXPECT_EQ(lateness.count(), taken ? 2u : 0u);
    return taken;
  };
  core::ClaimReply into;
  ASSERT_TRUE(read(2, into));
  const std::string bytes = into.bytes;
  EXPECT_FALSE(read(1, into));
  EXPECT_FALSE(read(2, into, 1));  // more than was asked for
  EXPECT_EQ(into.items.size(), 2u);
  EXPECT_EQ(into.bytes, bytes);
}

INSTANTIATE_TEST_SUITE_P(SpreadMs, ClaimRunsTest, ::testing::Values(1, 3, 40, 300));

}  // namespace
}  // namespace tarry::redis
