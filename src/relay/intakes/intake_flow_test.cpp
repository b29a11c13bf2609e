#ifdef TARRY_WITH_RABBITMQ

#include "relay/intakes/intake_flow.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tarry::relay {
namespace {

using IntakeMoment = IntakeFlow::Moment;

Arrival arrival_of(std::uint64_t tag, std::string key, bool redelivered = false) {
  Arrival arrival;
  arrival.tag = tag;
  arrival.key = std::move(key);
  arrival.redelivered = redelivered;
  return arrival;
}

core::PushReply answers_of(const std::vector<Outcome>& outcomes) {
  core::PushReply reply;
  for (const Outcome outcome : outcomes) {
    reply.items.emplace_back();
    reply.items.back().outcome = outcome;
  }
  return reply;
}
Error of_code(ErrorCode code) { return {code, std::string(to_string(code))}; }

// Describes a step in words.
std::string said(const IntakeFlow::Step& step) {
  if (const auto* push = std::get_if<IntakeFlow::Push>(&step)) {
    std::string out = "push";
    for (const core::PushItem& item : push->request.items) {
      out += " " + std::string(core::view(push->request.bytes, item.key));
    }
    return out;
  }
  if (const auto* ack = std::get_if<IntakeFlow::Ack>(&step)) {
    return "ack " + std::to_string(ack->tag) + (ack->multiple ? " and before" : "");
  }
  if (const auto* refuse = std::get_if<IntakeFlow::Refuse>(&step)) {
    const IntakeFlow::Refusal& refusal = *refuse->refusal;
    return "refuse " + std::to_string(refusal.arrival.tag) + ": " + refusal.reason;
  }
  if (const auto* wait = std::get_if<IntakeFlow::Wait>(&step)) {
    return wait->until ? "wait until " + std::to_string(wait->until->count()) : "wait";
  }
  return "finished";
}

class IntakeFlowTest : public ::testing::Test {
 protected:
  std::string next(std::int64_t now = 0) { return said(flow.next(IntakeMoment(now))); }

  // Answers two pushes of two messages each, the later one first, and expects the acks.
  void expect_acks_in_two_pushes() {
    flow.pushed(2, answers_of({Outcome::pushed, Outcome::pushed}), IntakeMoment(0));
    flow.pushed(1, answers_of({Outcome::pushed, Outcome::pushed}), IntakeMoment(0));
    EXPECT_EQ(next(), "ack 3");
    EXPECT_EQ(next(), "ack 4");
    EXPECT_EQ(next(), "ack 2 and before");
  }

  IntakeFlow flow{"q", 2};
};

TEST_F(IntakeFlowTest, AcksWhatTheStoreHasAndNotBefore) {
  EXPECT_EQ(next(), "wait");
  for (std::uint64_t tag = 1; tag <= 5; ++tag) flow.arrived(arrival_of(tag, std::to_string(tag)));
  EXPECT_EQ(next(), "push 1 2");
  EXPECT_EQ(next(), "push 3 4");
  EXPECT_EQ(next(), "wait");
  flow.pushed(2, answers_of({Outcome::pushed, Outcome::pushed}), IntakeMoment(0));
  EXPECT_EQ(next(), "ack 3");
  EXPECT_EQ(next(), "ack 4");
  EXPECT_EQ(next(), "push 5");
  flow.pushed(1, answers_of({Outcome::pushed, Outcome::pushed}), IntakeMoment(0));
  EXPECT_EQ(next(), "ack 2 and before");
  flow.pushed(3, answers_of({Outcome::pushed}), IntakeMoment(0));
  EXPECT_EQ(next(), "ack 5 and before");
  EXPECT_EQ(flow.stats().acked, 5u);
}

TEST_F(IntakeFlowTest, AnAckThatCoversOthersKeepsThoseBehindIt) {
  for (std::uint64_t tag = 1; tag <= 4; ++tag) flow.arrived(arrival_of(tag, "k"));
  EXPECT_EQ(next(), "push k k");
  EXPECT_EQ(next(), "push k k");
  expect_acks_in_two_pushes();
}

TEST_F(IntakeFlowTest, ADuplicateIsDroppedAndAnotherOfItsKeyIsNot) {
  flow.arrived(arrival_of(1, "a", true));
  flow.arrived(arrival_of(2, "a"));
  EXPECT_EQ(next(), "push a a");
  flow.pushed(1, answers_of({Outcome::kept, Outcome::kept}), IntakeMoment(0));
  EXPECT_EQ(next(), "ack 1 and before");
  EXPECT_EQ(next(), "push ");
  flow.pushed(2, answers_of({Outcome::pushed}), IntakeMoment(0));
  EXPECT_EQ(next(), "ack 2 and before");
  EXPECT_EQ(flow.stats().duplicates, 1u);
  EXPECT_EQ(flow.stats().renamed, 1u);
  EXPECT_EQ(flow.stats().pushed, 1u);
}

TEST_F(IntakeFlowTest, AnAnswerThatWasLostMakesADuplicateOfWhatIsThere) {
  flow.arrived(arrival_of(1, "a"));
  EXPECT_EQ(next(), "push a");
  flow.pushed(1, of_code(ErrorCode::unknown_outcome), IntakeMoment(1'000));
  EXPECT_EQ(flow.trouble(), "unknown_outcome");
  EXPECT_EQ(next(1'000), "wait until 1100");
  EXPECT_EQ(next(1'100), "push a");
  flow.pushed(2, answers_of({Outcome::kept}), IntakeMoment(1'100));
  EXPECT_EQ(next(1'100), "ack 1 and before");
  EXPECT_EQ(flow.trouble(), "");
}

TEST_F(IntakeFlowTest, WhatTheStoreRefusesIsSetAsideBeforeItIsAcked) {
  flow.arrived(arrival_of(1, "a"));
  Arrival faulty = arrival_of(2, "b");
  faulty.fault = "x-delay";
  flow.arrived(std::move(faulty));
  Arrival heavy = arrival_of(3, "c");
  heavy.headers = {{"h", std::string(20'000, 'x')}};
  flow.arrived(std::move(heavy));
  Arrival huge = arrival_of(4, "d");
  huge.payload.assign((64u << 20) + 1, 'x');
  flow.arrived(std::move(huge));
  EXPECT_EQ(next(), "refuse 2: x-delay");
  EXPECT_TRUE(next().starts_with("refuse 3: "));
  EXPECT_EQ(next(), "refuse 4: payload has 67108865 bytes; at most 67108864 are possible");
  flow.set_aside(4);
  EXPECT_EQ(next(), "ack 4");
  EXPECT_EQ(next(), "push a");
  core::PushReply reply = answers_of({Outcome::pushed});
  reply.items[0].error = of_code(ErrorCode::too_large);
  flow.pushed(1, reply, IntakeMoment(0));
  EXPECT_EQ(next(), "refuse 1: too_large");
  EXPECT_EQ(next(), "wait");
  flow.set_aside(3);
  EXPECT_EQ(next(), "ack 3");
  flow.stop();
  EXPECT_EQ(next(), "wait");
  flow.set_aside(1);
  flow.set_aside(2);
  EXPECT_EQ(next(), "ack 2 and before");
  EXPECT_EQ(next(), "finished");
  EXPECT_EQ(flow.stats().refused, 4u);
}

TEST_F(IntakeFlowTest, WhatCannotBeSetAsideIsTriedAgainAloneAndTheOthersGoOn) {
  for (std::uint64_t tag = 1; tag <= 4; ++tag) {
    flow.arrived(arrival_of(tag, "f"));
    Arrival faulty = arrival_of(10 + tag, "b");
    faulty.fault = "x-delay";
    flow.arrived(std::move(faulty));
  }
  for (const char* tag : {"11", "12", "13", "14"}) {
    EXPECT_EQ(next(), "refuse " + std::string(tag) + ": x-delay");
  }
  EXPECT_EQ(next(), "push f f");
  for (std::uint64_t tag = 11; tag <= 14; ++tag) flow.not_set_aside(tag, "full", IntakeMoment(0));
  EXPECT_EQ(flow.aside_trouble(), "full");
  EXPECT_EQ(next(), "push f f");
  EXPECT_EQ(next(), "wait until 100");
  expect_acks_in_two_pushes();
  EXPECT_EQ(next(100), "refuse 11: x-delay");
  EXPECT_EQ(next(100), "wait");
  flow.not_set_aside(11, "full", IntakeMoment(100));
  EXPECT_EQ(next(100), "wait until 300");
  EXPECT_EQ(next(300), "refuse 12: x-delay");
  flow.set_aside(12);
  EXPECT_EQ(flow.aside_trouble(), "");
  EXPECT_EQ(next(300), "ack 12");
  EXPECT_EQ(next(300), "refuse 13: x-delay");
  EXPECT_EQ(next(300), "refuse 14: x-delay");
  EXPECT_EQ(next(300), "wait");
  flow.stop();
  flow.not_set_aside(13, "full", IntakeMoment(300));
  flow.set_aside(14);
  EXPECT_EQ(next(300), "ack 14");
  EXPECT_EQ(next(300), "finished");
  EXPECT_EQ(flow.stats().refused, 2u);
}

TEST_F(IntakeFlowTest, IsIdleOnceAllIsAckedButWhatCannotBeSetAside) {
  EXPECT_TRUE(flow.is_idle());
  flow.arrived(arrival_of(1, "a"));
  Arrival faulty = arrival_of(2, "b");
  faulty.fault = "x-delay";
  flow.arrived(std::move(faulty));
  EXPECT_FALSE(flow.is_idle());
  EXPECT_EQ(next(), "refuse 2: x-delay");
  EXPECT_EQ(next(), "push a");
  EXPECT_FALSE(flow.is_idle());
  flow.pushed(1, answers_of({Outcome::pushed}), IntakeMoment(0));
  EXPECT_FALSE(flow.is_idle());
  EXPECT_EQ(next(), "ack 1 and before");
  EXPECT_FALSE(flow.is_idle());
  flow.not_set_aside(2, "full", IntakeMoment(0));
  EXPECT_TRUE(flow.is_idle());
}

TEST(IntakeFlowHalves, ABatchThatIsTooLargeGoesAgainInHalves) {
  IntakeFlow flow("q", 5);
  const auto next = [&flow] { return said(flow.next(IntakeMoment(0))); };
  const auto arrives = [&flow](std::uint64_t tag, const char* key, std::size_t size) {
    Arrival arrival = arrival_of(tag, key);
    arrival.payload.assign(size, 'x');
    flow.arrived(std::move(arrival));
  };
  arrives(1, "a", 100);
  arrives(2, "b", 510);
  for (std::uint64_t tag = 3; tag <= 10; ++tag) arrives(tag, "s", 100);
  EXPECT_EQ(next(), "push a b s s s");
  EXPECT_EQ(next(), "push s s s s s");
  flow.pushed(1, of_code(ErrorCode::too_large), IntakeMoment(0));
  EXPECT_EQ(flow.trouble(), "");
  EXPECT_EQ(next(), "push a b");
  flow.pushed(3, of_code(ErrorCode::too_large), IntakeMoment(0));
  EXPECT_EQ(next(), "push a");
  flow.pushed(4, answers_of({Outcome::pushed}), IntakeMoment(0));
  EXPECT_EQ(next(), "ack 1 and before");
  EXPECT_EQ(next(), "push b");
  flow.pushed(5, of_code(ErrorCode::too_large), IntakeMoment(0));
  EXPECT_EQ(next(), "refuse 2: too_large");
  flow.set_aside(2);
  EXPECT_EQ(next(), "ack 2 and before");
  EXPECT_EQ(next(), "push s s s");
  flow.pushed(6, answers_of(std::vector(3, Outcome::pushed)), IntakeMoment(0));
  EXPECT_EQ(next(), "ack 5 and before");
  for (std::uint64_t tag = 11; tag <= 15; ++tag) arrives(tag, "t", 100);
  EXPECT_EQ(next(), "push t t t");  // half of the 612 bytes
  flow.disconnected();
  flow.pushed(2, of_code(ErrorCode::too_large), IntakeMoment(0));
  flow.pushed(7, of_code(ErrorCode::too_large), IntakeMoment(0));
  EXPECT_TRUE(flow.is_idle());
  EXPECT_EQ(next(), "wait");
  EXPECT_FALSE(flow.error());
}

TEST_F(IntakeFlowTest, AStoreThatIsNoUseEndsIt) {
  flow.arrived(arrival_of(1, "a"));
  EXPECT_EQ(next(), "push a");
  flow.pushed(1, of_code(ErrorCode::damaged), IntakeMoment(0));
  EXPECT_EQ(next(), "finished");
  EXPECT_EQ(flow.error()->code, ErrorCode::damaged);
}

TEST_F(IntakeFlowTest, AnswersToWhatALostConnectionBroughtAckNothing) {
  flow.arrived(arrival_of(1, "a"));
  EXPECT_EQ(next(), "push a");
  flow.arrived(arrival_of(2, "b"));
  flow.disconnected();
  flow.arrived(arrival_of(1, "b", true));
  flow.pushed(1, answers_of({Outcome::pushed}), IntakeMoment(0));
  EXPECT_EQ(next(), "push b");
  flow.stop();
  EXPECT_EQ(next(), "wait");
  flow.pushed(2, answers_of({Outcome::pushed}), IntakeMoment(0));
  EXPECT_EQ(next(), "ack 1 and before");
  EXPECT_EQ(next(), "finished");
}

// Simulates a broker that keeps unacked messages, a store that fails at random, and connections
// that end. Every message must end up in the store or be set aside, and must stay in the broker
// until then.
class IntakeWorld {
 public:
  explicit IntakeWorld(std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 40; ++i) queue_.insert(i);
  }

  void run() {
    for (int i = 0; i < 20'000 && !(queue_.empty() && unacked_.empty()); ++i) {
      now_ += IntakeMoment(below(50));
      something();
      steps();
    }
    RC_ASSERT(queue_.empty() && unacked_.empty());
    for (int i = 0; i < 40; ++i) RC_ASSERT(stored_.contains(i) || aside_.contains(i));
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }

  void something() {
    switch (below(8)) {
      case 0: disconnect(); break;
      case 1:
      case 2:
      case 3: answer(); break;
      case 4:
        if (!aside_tags_.empty()) {
          set_aside(aside_tags_.back());
          aside_tags_.pop_back();
        }
        break;
      default: deliver();
    }
  }
  void set_aside(std::uint64_t tag) {
    if (below(3) == 0) return flow_.not_set_aside(tag, "full", now_);
    aside_.insert(unacked_.at(tag));
    flow_.set_aside(tag);
  }
  void deliver() {
    if (queue_.empty() || unacked_.size() >= 10) return;
    const int message = *queue_.begin();
    queue_.erase(queue_.begin());
    unacked_[++tag_] = message;
    Arrival arrival = arrival_of(tag_, std::to_string(message), seen_.contains(message));
    arrival.payload = arrival.key;
    if (message % 7 == 0) arrival.fault = "faulty";
    seen_.insert(message);
    flow_.arrived(std::move(arrival));
  }
  void disconnect() {
    for (const auto& [tag, message] : unacked_) queue_.insert(message);
    unacked_.clear();
    aside_tags_.clear();
    tag_ = 0;
    flow_.disconnected();
  }
  void answer() {
    if (pushes_.empty()) return;
    auto at = pushes_.begin();
    std::advance(at, below(static_cast<std::uint32_t>(pushes_.size())));
    const IntakeFlow::Push push = std::move(*at);
    pushes_.erase(at);
    const bool lost = below(5) == 0;
    if (below(5) == 0) return flow_.pushed(push.batch, of_code(ErrorCode::unavailable), now_);
    if (below(5) == 0) return flow_.pushed(push.batch, of_code(ErrorCode::too_large), now_);
    core::PushReply reply;
    for (const core::PushItem& item : push.request.items) {
      core::PushResult& result = reply.items.emplace_back();
      const int message = std::stoi(std::string(core::view(push.request.bytes, item.payload)));
      if (below(6) == 0) {
        result.error = of_code(ErrorCode::no_space);
      } else {
        result.outcome = stored_.insert(message).second ? Outcome::pushed : Outcome::kept;
      }
    }
    if (lost) return flow_.pushed(push.batch, of_code(ErrorCode::unknown_outcome), now_);
    flow_.pushed(push.batch, reply, now_);
  }
  void steps() {
    for (;;) {
      IntakeFlow::Step step = flow_.next(now_);
      if (std::holds_alternative<IntakeFlow::Wait>(step)) return;
      if (auto* push = std::get_if<IntakeFlow::Push>(&step)) {
        RC_ASSERT(!push->request.items.empty());
        pushes_.push_back(std::move(*push));
        RC_ASSERT(pushes_.size() <= IntakeFlow::kPushes);
      } else if (auto* refuse = std::get_if<IntakeFlow::Refuse>(&step)) {
        aside_tags_.push_back(refuse->refusal->arrival.tag);
      } else {
        const auto& ack = std::get<IntakeFlow::Ack>(step);
        RC_ASSERT(unacked_.contains(ack.tag));
        const auto from = ack.multiple ? unacked_.begin() : unacked_.find(ack.tag);
        const auto end = std::next(unacked_.find(ack.tag));
        for (auto it = from; it != end; ++it) {
          RC_ASSERT(stored_.contains(it->second) || aside_.contains(it->second));
        }
        unacked_.erase(from, end);
      }
    }
  }

  IntakeFlow flow_{"q", 3};
  std::minstd_rand random_;
  IntakeMoment now_{0};
  std::set<int> queue_;
  std::set<int> seen_;
  std::map<std::uint64_t, int> unacked_;
  std::uint64_t tag_ = 0;
  std::vector<IntakeFlow::Push> pushes_;
  std::set<int> stored_;
  std::set<int> aside_;
  std::vector<std::uint64_t> aside_tags_;
};

RC_GTEST_PROP(IntakeFlowProperty, NothingIsAckedThatIsNowhere, (std::uint32_t seed)) {
  IntakeWorld(seed).run();
}

}  // namespace
}  // namespace tarry::relay

#endif
