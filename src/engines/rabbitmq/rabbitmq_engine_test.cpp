// These tests use a real broker, whose clock cannot be moved, so delays take their time. All tests
// share one broker, because a broker takes seconds to start; each test has a queue of its own.
#include "engines/rabbitmq/rabbitmq_engine.h"

#include <algorithm>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "core/rules/headers.h"
#include "support/engine_calls.h"
#include "support/rabbit_server.h"
#include "timing/real_clock.h"

namespace tarry::rabbitmq {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class RabbitEngineTest : public ::testing::Test, protected test::EngineCalls {
 protected:
  void SetUp() override {
    if (!tarry::testing::RabbitServer::is_installed()) GTEST_SKIP() << "rabbitmq-server is missing";
    engine_ = open();
  }
  static tarry::testing::RabbitServer& server() {
    static tarry::testing::RabbitServer server;
    return server;
  }

  [[nodiscard]] RabbitEngineOptions options() const {
    RabbitEngineOptions options;
    options.address.port = server().port();
    options.rung_ms = rung_ms_;
    options.queues = queues_;
    return options;
  }
  [[nodiscard]] std::unique_ptr<core::Engine> open() const {
    auto engine = open_rabbitmq(options());
    if (!engine) throw std::runtime_error(engine.error().message);
    return *std::move(engine);
  }

  core::PushResult push(std::string_view key, std::string_view payload, Millis delay = Millis(0),
                        std::uint32_t max_attempts = 0) {
    core::PushRequest request = push_of(queue_, delay);
    core::PushItem& item = request.items.back();
    item.key = core::append(request.bytes, key);
    item.payload = core::append(request.bytes, payload);
    item.headers = core::append(request.bytes, *core::encode_headers({{"lang", "de"}}));
    item.max_attempts = max_attempts;
    const auto reply = take<core::PushReply>(*engine_, std::move(request));
    EXPECT_EQ(reply.items.size(), 1u);
    EXPECT_FALSE(reply.items.at(0).error) << reply.items.at(0).error->message;
    return reply.items.at(0);
  }
  [[nodiscard]] core::ClaimRequest claim_of(std::uint32_t max, Millis wait) const {
    core::ClaimRequest request;
    request.queues = {queue_};
    request.max = max;
    request.wait = wait;
    return request;
  }
  core::ClaimReply claim(std::uint32_t max = 1, Millis wait = minutes(1)) {
    return take<core::ClaimReply>(*engine_, claim_of(max, wait));
  }
  core::ItemResult settle(const core::ClaimReply& claimed, core::SettleAction action,
                          std::optional<Millis> delay = {}, std::string_view reason = {},
                          std::size_t index = 0) {
    core::SettleRequest request;
    core::SettleItem& item = request.items.emplace_back();
    item.receipt =
        core::append(request.bytes, core::view(claimed.bytes, claimed.items.at(index).receipt));
    item.action = action;
    item.delay = delay;
    item.reason = core::append(request.bytes, reason);
    return take<core::ItemsReply>(*engine_, std::move(request)).items.at(0);
  }
  core::ListReply dead(std::uint32_t limit = 100, std::string after = {}) {
    core::ListRequest request;
    request.queue = queue_;
    request.state = State::dead;
    request.limit = limit;
    request.after = std::move(after);
    return take<core::ListReply>(*engine_, std::move(request));
  }
  QueueStats stats() {
    core::StatsRequest request;
    request.queue = queue_;
    return take<StoreStats>(*engine_, std::move(request)).queues.at(0);
  }
  // A broker updates its counts a moment after it has confirmed a message or an ack.
  void expect_soon(std::uint64_t ready, std::uint64_t dead) {
    const auto deadline = std::chrono::steady_clock::now() + minutes(1);
    QueueStats last = stats();
    while ((last.ready != ready || last.dead != dead) &&
           std::chrono::steady_clock::now() < deadline) {
      last = stats();
    }
    EXPECT_EQ(last.ready, ready);
    EXPECT_EQ(last.dead, dead);
  }
  static std::string_view key(const core::ClaimReply& claimed, std::size_t index = 0) {
    return core::view(claimed.bytes, claimed.items.at(index).key);
  }
  ErrorCode code_of(core::Request request) {
    const auto reply = ask(*engine_, std::move(request));
    if (reply) return ErrorCode::misuse;
    EXPECT_NE(reply.error().message.find("rabbitmq cannot "), std::string::npos)
        << reply.error().message;
    return reply.error().code;
  }

  void life();

  Queues queues_ = Queues::automatic;
  std::int64_t rung_ms_ = 10;  // each kind of queue has a ladder of its own
  const std::string queue_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::unique_ptr<core::Engine> engine_;
  timing::RealClock clock_;
};

void RabbitEngineTest::life() {
  // The message arrives unchanged, and not before it is due.
  const core::PushResult pushed = push("a", "hello", Millis(300));
  const core::ClaimReply first = claim();
  ASSERT_EQ(first.items.size(), 1u);
  EXPECT_EQ(first.items[0].id, pushed.id);
  EXPECT_EQ(key(first), "a");
  EXPECT_EQ(core::view(first.bytes, first.items[0].payload), "hello");
  EXPECT_EQ(core::find_header(core::view(first.bytes, first.items[0].headers), "lang"), "de");
  EXPECT_EQ(first.items[0].attempt, 1u);
  EXPECT_EQ(first.items[0].due_ms, pushed.due_ms);
  EXPECT_GE(first.items[0].claimed_ms, pushed.due_ms);

  // A retry counts an attempt; a release does not.
  const core::ItemResult retried = settle(first, core::SettleAction::retry, Millis(50));
  EXPECT_EQ(retried.outcome, Outcome::done);
  const core::ClaimReply second = claim();
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.items[0].id, pushed.id);
  EXPECT_EQ(second.items[0].attempt, 2u);
  EXPECT_GE(second.items[0].claimed_ms, *retried.due_ms);
  EXPECT_EQ(settle(second, core::SettleAction::release).outcome, Outcome::done);
  const core::ClaimReply third = claim();
  ASSERT_EQ(third.items.size(), 1u);
  EXPECT_EQ(third.items[0].attempt, 2u);
  EXPECT_EQ(third.items[0].tallies.claims, 3u);
  EXPECT_EQ(third.items[0].tallies.releases, 1u);

  // A receipt names one claim.
  EXPECT_EQ(settle(second, core::SettleAction::ack).outcome, Outcome::stale);
  EXPECT_EQ(settle(third, core::SettleAction::ack).outcome, Outcome::done);
  EXPECT_EQ(settle(third, core::SettleAction::ack).outcome, Outcome::stale);
  EXPECT_TRUE(claim(1, Millis(0)).items.empty());

  // A message dies by a bury or by its last attempt, and can be revived.
  push("b", "buried");
  EXPECT_EQ(settle(claim(), core::SettleAction::bury, {}, "no such shop").outcome, Outcome::done);
  push("c", "tried", Millis(0), 1);
  EXPECT_EQ(settle(claim(), core::SettleAction::retry, {}, "down").outcome, Outcome::done);
  expect_soon(0, 2);
  const core::ListReply listed = dead();
  ASSERT_EQ(listed.messages.size(), 2u);
  EXPECT_EQ(listed.messages[0].key, "b");
  EXPECT_EQ(listed.messages[0].reason, "no such shop");
  EXPECT_EQ(listed.messages[1].key, "c");
  EXPECT_EQ(listed.messages[1].reason, "down");
  EXPECT_EQ(listed.messages[1].attempt, 1u);
  core::ReviveRequest revive;
  revive.queue = queue_;
  revive.keys.push_back(core::append(revive.bytes, "c"));
  EXPECT_EQ(take<core::CountReply>(*engine_, revive).count, 1u);
  const core::ClaimReply revived = claim();
  ASSERT_EQ(revived.items.size(), 1u);
  EXPECT_EQ(key(revived), "c");
  EXPECT_EQ(revived.items[0].attempt, 1u);
  EXPECT_EQ(revived.items[0].tallies.revives, 1u);
  EXPECT_EQ(settle(revived, core::SettleAction::ack).outcome, Outcome::done);
  expect_soon(0, 1);

  push("d", "purged");
  expect_soon(1, 1);
  EXPECT_EQ(take<core::CountReply>(*engine_, core::PurgeRequest{queue_}).count, 2u);
  expect_soon(0, 0);
}

TEST_F(RabbitEngineTest, LivesThroughAMessagesLife) { life(); }

class ClassicRabbitEngineTest : public RabbitEngineTest {
 protected:
  ClassicRabbitEngineTest() {
    queues_ = Queues::classic;
    rung_ms_ = 11;
  }
};

TEST_F(ClassicRabbitEngineTest, LivesThroughAMessagesLifeToo) {
  life();
  // The same ladder cannot be declared with queues of the other type.
  RabbitEngineOptions other = options();
  other.queues = Queues::quorum;
  const auto refused = open_rabbitmq(std::move(other));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_NE(refused.error().message.find("tarry.v1.11ms.rung.00"), std::string::npos)
      << refused.error().message;
}

TEST_F(RabbitEngineTest, FetchesNothingThatNobodyAsksFor) {
  // A waiting claim takes at most as many messages as it asked for. The others stay in the queue.
  auto waiting = begin(*engine_, claim_of(2, minutes(1)));
  wait_until_it_waits(*engine_, queue_);
  core::PushRequest batch = push_of(queue_, Millis(0));
  batch.items.resize(20, batch.items[0]);
  for (const auto& item : take<core::PushReply>(*engine_, batch).items) EXPECT_FALSE(item.error);
  const auto reply = waiting.get();
  ASSERT_TRUE(reply);
  const auto& got = std::get<core::ClaimReply>(*reply);
  ASSERT_GE(got.items.size(), 1u);
  ASSERT_LE(got.items.size(), 2u);
  expect_soon(20 - got.items.size(), 0);
  EXPECT_EQ(stats().leased, got.items.size());

  const auto other = open();
  std::set<std::uint64_t> ids;
  for (const auto& item : got.items) ids.insert(item.id);
  while (ids.size() < 20) {
    const auto rest = take<core::ClaimReply>(*other, claim_of(100, minutes(1)));
    ASSERT_FALSE(rest.items.empty());
    for (const auto& item : rest.items) EXPECT_TRUE(ids.insert(item.id).second);
  }

  // When a connection ends, the broker delivers its claimed messages again, and counts the attempt.
  other->close();
  const core::ClaimReply again = claim(100);
  ASSERT_FALSE(again.items.empty());
  EXPECT_EQ(again.items[0].attempt, 2u);
  EXPECT_EQ(again.items[0].tallies.run_outs, 1u);
}

// If many acks come at once, a quorum queue keeps some back, and loses them when the channel
// closes.
TEST_F(RabbitEngineTest, AcksHoldThoughTheStoreClosesAtOnce) {
  constexpr std::uint32_t kMany = 200;
  core::PushRequest batch = push_of(queue_, Millis(0));
  batch.items.resize(kMany, batch.items[0]);
  for (const auto& item : take<core::PushReply>(*engine_, batch).items) EXPECT_FALSE(item.error);
  const core::ClaimReply claimed = claim(kMany);
  ASSERT_EQ(claimed.items.size(), kMany);
  core::SettleRequest acks;
  for (const core::ClaimedItem& item : claimed.items) {
    acks.items.emplace_back().receipt =
        core::append(acks.bytes, core::view(claimed.bytes, item.receipt));
  }
  for (const auto& item : take<core::ItemsReply>(*engine_, std::move(acks)).items) {
    EXPECT_EQ(item.outcome, Outcome::done);
  }
  engine_->close();
  engine_ = open();
  push("last", "");
  const core::ClaimReply rest = claim(kMany);
  ASSERT_EQ(rest.items.size(), 1u);
  EXPECT_EQ(key(rest), "last");
}

TEST_F(RabbitEngineTest, AClaimThatDoesNotWaitMakesNoQueue) {
  EXPECT_TRUE(claim(1, Millis(0)).items.empty());
  core::StatsRequest request;
  request.queue = queue_;
  EXPECT_EQ(ask(*engine_, std::move(request)).error().code, ErrorCode::not_found);
}

TEST_F(RabbitEngineTest, ADelayPassesNoLongerOne) {
  core::PushRequest longer = push_of(queue_, hours(1));
  longer.items.resize(1'000, longer.items[0]);
  for (const auto& item : take<core::PushReply>(*engine_, longer).items) EXPECT_FALSE(item.error);
  const core::PushResult shorter = push("short", "", Millis(500));
  const core::ClaimReply got = claim(10);
  ASSERT_EQ(got.items.size(), 1u);
  EXPECT_EQ(got.items[0].id, shorter.id);
  EXPECT_TRUE(claim(10, Millis(0)).items.empty());
}

TEST_F(RabbitEngineTest, SaysByNameWhatItCannotDo) {
  core::CancelRequest cancel{queue_, {}, ""};
  cancel.keys.push_back(core::append(cancel.bytes, "a"));
  EXPECT_EQ(code_of(cancel), ErrorCode::unsupported);
  core::RescheduleRequest reschedule{queue_, {}, ""};
  reschedule.items.push_back({core::append(reschedule.bytes, "a"), Due(), {}});
  EXPECT_EQ(code_of(reschedule), ErrorCode::unsupported);
  core::GetRequest get{queue_, {}, ""};
  get.keys.push_back(core::append(get.bytes, "a"));
  EXPECT_EQ(code_of(get), ErrorCode::unsupported);
  core::ExtendRequest extend;
  extend.items.push_back({core::append(extend.bytes, "receipt"), {}});
  EXPECT_EQ(code_of(extend), ErrorCode::unsupported);
  core::ClaimRequest leased = claim_of(1, Millis(0));
  leased.lease = seconds(5);
  EXPECT_EQ(code_of(leased), ErrorCode::unsupported);
  EXPECT_EQ(code_of(core::PauseRequest{queue_, {}}), ErrorCode::unsupported);
  EXPECT_EQ(code_of(core::RemoveRequest{queue_}), ErrorCode::unsupported);

  // A delay over the top fails its own message only.
  const auto over = ask(*engine_, push_of(queue_, hours(24 * 365)));
  EXPECT_NE(error_in(over).find("over the ladder's top, "), std::string::npos) << error_in(over);
}

}  // namespace
}  // namespace tarry::rabbitmq
