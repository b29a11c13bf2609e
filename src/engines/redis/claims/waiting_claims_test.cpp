// Waiting and woken claims, with looks that the test ends at will, and no Redis.
#include "engines/redis/claims/waiting_claims.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "timing/manual_clock.h"

namespace tarry::redis {
namespace {

// A queue is only a number of messages. A look takes one message from the first of its queues that
// has any.
class FakeClaims final : public WaitingClaims {
 public:
  using WaitingClaims::WaitingClaims;

  std::map<std::string, int> messages;
  int released = 0;

  [[nodiscard]] std::size_t looks() const { return looks_.size(); }
  void end_look(std::size_t which) {
    Look look = std::move(looks_[which]);
    looks_.erase(looks_.begin() + static_cast<std::ptrdiff_t>(which));
    const auto has = std::ranges::find_if(look.queues, [&](const auto& q) { return look.seen[q]; });
    if (has != look.queues.end()) look.claim->reply.items.emplace_back();
    looked(look.claim, look.queues, look.watch, INT64_MAX, has != look.queues.end());
  }
  void fail_look(std::size_t which) {
    Look look = std::move(looks_[which]);
    looks_.erase(looks_.begin() + static_cast<std::ptrdiff_t>(which));
    fail(look.claim, look.watch, {ErrorCode::unavailable, "away"}, 1'000);
    // Messages that Redis claimed for this look become ready again, as if their leases had run out.
    for (const auto& [queue, taken] : look.seen) {
      messages[queue] += taken ? 1 : 0;
      wake(queue);
    }
  }

 private:
  struct Look {
    ClaimPtr claim;
    std::vector<std::string> queues;
    Watch watch;
    std::map<std::string, bool> seen;
  };

  // The look finds its messages now; the test gives the answer later.
  void look(const ClaimPtr& claim, std::vector<std::string> queues, Watch watch) override {
    Look look{claim, std::move(queues), watch, {}};
    for (const std::string& queue : look.queues) {
      if (messages[queue] == 0) continue;
      --messages[queue];
      look.seen[queue] = true;
      break;
    }
    looks_.push_back(std::move(look));
  }
  void release(const core::ClaimReply& reply) override {
    released += static_cast<int>(reply.items.size());
  }
  [[nodiscard]] std::int64_t longest_ms(const core::ClaimRequest&) const override {
    return INT64_MAX;
  }

  std::vector<Look> looks_;
};

struct Answer {
  std::optional<Result<core::Reply>> reply;
  [[nodiscard]] bool is_there() const { return reply.has_value(); }
  [[nodiscard]] std::size_t found() const {
    if (!reply || !*reply) return 0;
    return std::get<core::ClaimReply>(**reply).items.size();
  }
};

class FakeRedis {
 public:
  explicit FakeRedis(std::size_t slice = WaitingClaims::kSlice, core::Limits limits = {})
      : claims(alarms, limits, slice) {}

  std::shared_ptr<Answer> claim(std::vector<std::string> queues, std::vector<std::string> keys = {},
                                Millis wait = std::chrono::minutes(1)) {
    auto asked = std::make_shared<Asked>();
    core::ClaimRequest request;
    request.queues = std::move(queues);
    request.keys = std::move(keys);
    request.wait = wait;
    asked->request = std::move(request);
    auto answer = std::make_shared<Answer>();
    asked->completion = [answer](Result<core::Reply> reply) {
      if (answer->reply) std::abort();  // answered twice
      answer->reply = std::move(reply);
    };
    claims.begin(++last_ticket, asked);
    return answer;
  }
  void push(const std::string& queue) {
    ++claims.messages[queue];
    claims.wake(queue);
  }
  void end_looks() {
    while (claims.looks() > 0) claims.end_look(0);
  }
  /// Runs the tasks posted to later turns of the io_context.
  void run() {
    io.restart();
    io.poll();
  }

  timing::ManualClock clock;
  boost::asio::io_context io{1};
  Alarms alarms{io, &clock};
  FakeClaims claims;
  core::Ticket last_ticket = 0;
};

TEST(WaitingClaims, OneLooksForAllAndWhatItLeavesOverIsForTheNext) {
  FakeRedis redis;
  const auto first = redis.claim({"a", "b"});
  const auto second = redis.claim({"a"});
  redis.end_looks();
  EXPECT_EQ(redis.claims.waiting_at("a"), 2u);
  redis.claims.messages["a"] = 2;
  redis.claims.wake("a");
  EXPECT_EQ(redis.claims.looks(), 1u);
  redis.end_looks();
  EXPECT_EQ(first->found(), 1u);
  EXPECT_EQ(second->found(), 1u);
  EXPECT_EQ(redis.claims.watched(), 0u);
}

TEST(WaitingClaims, AWakeUpThatOvertakesTheAnswerIsNotLost) {
  FakeRedis redis;
  const auto waiting = redis.claim({"a", "b"});
  redis.push("b");
  redis.end_looks();
  EXPECT_EQ(waiting->found(), 1u);
}

TEST(WaitingClaims, ThoseByKeyLookEachForThemselves) {
  FakeRedis redis;
  const auto first = redis.claim({"a"}, {"k"});
  const auto second = redis.claim({"a"}, {"l"});
  redis.end_looks();
  redis.claims.wake("a");
  EXPECT_EQ(redis.claims.looks(), 2u);
  redis.end_looks();
  redis.push("a");
  redis.end_looks();
  EXPECT_EQ(first->found() + second->found(), 1u);
}

TEST(WaitingClaims, WhatIsClaimedForOneThatHasGoneIsReleased) {
  FakeRedis redis;
  redis.claims.messages["a"] = 1;
  const auto gone = redis.claim({"a"});
  redis.claims.withdraw(1);
  EXPECT_TRUE(gone->is_there());
  redis.end_looks();
  EXPECT_EQ(redis.claims.released, 1);
  EXPECT_EQ(redis.claims.watched(), 0u);
}

TEST(WaitingClaims, ManyThatHangUpAreAnsweredAtOnceAndTakenOutInSlices) {
  FakeRedis redis(10);
  std::vector<std::shared_ptr<Answer>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(redis.claim({"a", "b", "c", "d", "e"}));
  const auto stays = redis.claim({"e"});
  redis.end_looks();
  for (core::Ticket ticket = 1; ticket <= 20; ++ticket) redis.claims.withdraw(ticket);
  for (const auto& answer : answers) EXPECT_TRUE(answer->is_there());
  EXPECT_EQ(redis.claims.waiting_at("e"), 1u);
  int slices = 0;
  while (redis.claims.watched() > 1) {
    redis.io.restart();
    ASSERT_EQ(redis.io.poll_one(), 1u);
    ++slices;
  }
  EXPECT_EQ(slices, 10);
  redis.push("e");
  redis.end_looks();
  EXPECT_EQ(stays->found(), 1u);
}

TEST(WaitingClaims, WhoWaitsIsServedWhileOthersAreTakenOut) {
  FakeRedis redis(10);
  for (int i = 0; i < 20; ++i) (void)redis.claim({"a", "b", "c", "d", "e"});
  const auto stays = redis.claim({"e"});
  redis.end_looks();
  for (core::Ticket ticket = 1; ticket <= 20; ++ticket) redis.claims.withdraw(ticket);
  redis.push("e");
  redis.end_looks();
  EXPECT_EQ(stays->found(), 1u);
  redis.run();
  EXPECT_EQ(redis.claims.watched(), 0u);
}

TEST(WaitingClaims, OneTooManyIsToldTheLimitUnlessSomethingIsThere) {
  core::Limits limits;
  limits.max_waiting_claims = 1;
  FakeRedis redis(WaitingClaims::kSlice, limits);
  const auto first = redis.claim({"a"});
  const auto second = redis.claim({"a"});
  redis.end_looks();
  EXPECT_FALSE(first->is_there());
  ASSERT_TRUE(second->is_there());
  ASSERT_FALSE(*second->reply);
  EXPECT_EQ(second->reply->error().code, ErrorCode::unavailable);
  EXPECT_NE(second->reply->error().message.find("limit is 1"), std::string::npos);
  redis.claims.messages["a"] = 1;
  const auto third = redis.claim({"a"});
  redis.end_looks();
  EXPECT_EQ(third->found(), 1u);
  redis.claims.withdraw(1);
  const auto fourth = redis.claim({"a"});
  redis.end_looks();
  EXPECT_FALSE(fourth->is_there());
}

// In any order of pushes, wake-ups, answers and hang-ups, no claim waits at a queue that has
// messages, no claimed message is lost, and no state of callers that have gone is kept.
RC_GTEST_PROP(WaitingClaimsProperty, NobodyWaitsWhereSomethingIs, ()) {
  const std::vector<std::string> queues{"a", "b", "c"};
  FakeRedis redis(*rc::gen::inRange<std::size_t>(1, 8));
  std::vector<std::pair<core::Ticket, std::shared_ptr<Answer>>> asked;
  std::vector<std::vector<std::string>> named;
  int pushed = 0;
  const int steps = *rc::gen::inRange(0, 100);
  for (int i = 0; i < steps; ++i) {
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
      case 1: {
        const int mask = *rc::gen::inRange(1, 8);
        std::vector<std::string> some;
        for (std::size_t bit = 0; bit < 3; ++bit) {
          if ((mask >> bit & 1) != 0) some.push_back(queues[bit]);
        }
        const bool by_key = some.size() == 1 && *rc::gen::inRange(0, 4) == 0;
        named.push_back(some);
        auto answer =
            redis.claim(some, by_key ? std::vector<std::string>{"k"} : std::vector<std::string>());
        asked.emplace_back(redis.last_ticket, std::move(answer));
        break;
      }
      case 2:
        ++pushed;
        redis.push(*rc::gen::elementOf(queues));
        break;
      case 3:
        if (!asked.empty()) redis.claims.withdraw((*rc::gen::elementOf(asked)).first);
        break;
      case 4: redis.run(); break;
      default:
        if (redis.claims.looks() == 0) break;
        const auto which = *rc::gen::inRange<std::size_t>(0, redis.claims.looks());
        if (*rc::gen::inRange(0, 8) == 0) {
          redis.claims.fail_look(which);
        } else {
          redis.claims.end_look(which);
        }
    }
  }
  // After a look has failed, the others look again a second later.
  for (int round = 0; round < 3; ++round) {
    redis.end_looks();
    redis.run();
    redis.clock.advance(1'000);
    redis.alarms.moved();
  }
  redis.end_looks();
  redis.run();
  int left = 0;
  for (const auto& [queue, count] : redis.claims.messages) left += count;
  int found = 0;
  std::map<std::string, std::uint64_t> waiting;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    found += static_cast<int>(asked[i].second->found());
    if (asked[i].second->is_there()) continue;
    for (const std::string& queue : named[i]) ++waiting[queue];
  }
  RC_ASSERT(left + found + redis.claims.released == pushed);
  for (const std::string& queue : queues) {
    RC_ASSERT(redis.claims.waiting_at(queue) == waiting[queue]);
    if (waiting[queue] > 0) RC_ASSERT(redis.claims.messages[queue] == 0);
  }
  RC_ASSERT(redis.claims.watched() ==
            static_cast<std::size_t>(std::ranges::count_if(
                waiting, [](const auto& entry) { return entry.second > 0; })));
}

}  // namespace
}  // namespace tarry::redis
