#include "engines/embedded/shard/requests/waiting_claims.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "core/request.h"

namespace tarry::embedded {
namespace {

OperationPtr waiting_claim(std::vector<std::string> queues, std::int64_t until_boot_ms = 1'000,
                           std::vector<std::string> keys = {}) {
  core::ClaimRequest request;
  request.queues = std::move(queues);
  request.keys = std::move(keys);
  auto op = std::make_shared<Operation>(
      std::move(request), [](Result<core::Reply>) {}, Operation::Completes::engine);
  op->wait_until_boot_ms = until_boot_ms;
  op->phase.store(ClaimPhase::waiting);
  return op;
}

void end_elsewhere(WaitingClaims& waiting, const OperationPtr& op) {
  op->phase.store(ClaimPhase::ended);
  waiting.note_ended(op.get());
}

std::vector<std::string> take_woken(WaitingClaims& waiting) {
  std::vector<std::string> names;
  for (auto no = waiting.next_woken(); no != WaitingClaims::kNone; no = waiting.next_woken()) {
    names.push_back(waiting.name(no));
  }
  return names;
}

WaitingClaims::QueueNo number_of(WaitingClaims& waiting, const std::string& queue) {
  waiting.wake(queue);
  return waiting.next_woken();
}

TEST(WaitingClaims, AClaimWakesItsQueuesAndEachQueueOnce) {
  WaitingClaims waiting;
  waiting.add(waiting_claim({"a", "b"}));
  waiting.add(waiting_claim({"b", "c"}));
  EXPECT_EQ(take_woken(waiting), (std::vector<std::string>{"a", "b", "c"}));
  waiting.wake("c");
  waiting.wake("nobody waits there");
  waiting.wake("a");
  waiting.wake("c");
  EXPECT_EQ(take_woken(waiting), (std::vector<std::string>{"c", "a"}));
  EXPECT_FALSE(waiting.has_woken());
}

TEST(WaitingClaims, WakesByKeyOnlyWhereAClaimByKeyWaits) {
  WaitingClaims waiting;
  const OperationPtr by_key = waiting_claim({"b"}, 1'000, {"k"});
  waiting.add(waiting_claim({"a"}));
  take_woken(waiting);
  waiting.wake_by_key("a");
  EXPECT_FALSE(waiting.has_woken());
  waiting.add(by_key);
  take_woken(waiting);
  EXPECT_TRUE(waiting.any_by_key(number_of(waiting, "b")));
  EXPECT_FALSE(waiting.any_by_key(number_of(waiting, "a")));
  waiting.wake_by_key("a");
  EXPECT_EQ(take_woken(waiting), std::vector<std::string>{"a"});
  waiting.remove(waiting.first(number_of(waiting, "b")));
  waiting.wake_by_key("a");
  EXPECT_FALSE(waiting.has_woken());
}

TEST(WaitingClaims, WhatHasEndedIsTakenOutInSlices) {
  WaitingClaims waiting;
  std::vector<OperationPtr> all;
  for (int i = 0; i < 10; ++i) waiting.add(all.emplace_back(waiting_claim({"a", "b", "c"})));
  for (const OperationPtr& op : all) end_elsewhere(waiting, op);
  EXPECT_EQ(waiting.waiting_at("a"), 0u);
  EXPECT_EQ(waiting.next_deadline(), std::nullopt);
  for (int left = 10; left > 0; left -= 2) {
    ASSERT_TRUE(waiting.has_ended());
    std::size_t budget = 6;
    waiting.drop_ended(budget);
    EXPECT_EQ(budget, 0u);
  }
  EXPECT_FALSE(waiting.has_ended());
  EXPECT_TRUE(waiting.empty());
}

TEST(WaitingClaims, AnEndThatIsToldTwiceOrOfAClaimThatIsGoneIsIgnored) {
  WaitingClaims waiting;
  const OperationPtr op = waiting_claim({"a"});
  waiting.note_ended(op.get());
  waiting.add(op);
  end_elsewhere(waiting, op);
  waiting.note_ended(op.get());
  waiting.remove(waiting.first(number_of(waiting, "a")));  // before `drop_ended` came to it
  waiting.add(waiting_claim({"a"}));                       // gets the removed claim's number
  std::size_t budget = 10;
  waiting.drop_ended(budget);
  EXPECT_EQ(waiting.waiting_at("a"), 1u);
}

TEST(WaitingClaims, WaitsEndInTheirOrderAsFarAsTheBudgetReaches) {
  WaitingClaims waiting;
  const OperationPtr late = waiting_claim({"a"}, 300);
  const OperationPtr early = waiting_claim({"a"}, 100);
  const OperationPtr middle = waiting_claim({"a"}, 200);
  for (const OperationPtr& op : {late, early, middle}) waiting.add(op);
  EXPECT_EQ(waiting.next_deadline(), 100);
  std::vector<OperationPtr> ended;
  const auto note = [&](const OperationPtr& op) {
    op->phase.store(ClaimPhase::ended);
    ended.push_back(op);
  };
  std::size_t budget = 1;
  waiting.expire(250, budget, note);
  EXPECT_EQ(ended, std::vector<OperationPtr>{early});
  budget = 10;
  waiting.expire(250, budget, note);
  EXPECT_EQ(ended, (std::vector<OperationPtr>{early, middle}));
  EXPECT_EQ(waiting.next_deadline(), 300);
  EXPECT_EQ(waiting.waiting_at("a"), 1u);
}

TEST(WaitingClaims, AHeldQueueIsAskedForUntilItIsHeldNoMore) {
  WaitingClaims waiting;
  waiting.add(waiting_claim({"a", "b"}));
  take_woken(waiting);
  const auto queue = number_of(waiting, "a");
  waiting.hold(queue);
  waiting.hold(queue);
  std::vector<std::string> held;
  const auto look = [&](WaitingClaims::Held what) {
    held.clear();
    waiting.look_at_held([&](const std::string& name) {
      held.push_back(name);
      return what;
    });
    return held;
  };
  EXPECT_EQ(look(WaitingClaims::Held::still), std::vector<std::string>{"a"});
  EXPECT_EQ(look(WaitingClaims::Held::woken), std::vector<std::string>{"a"});
  EXPECT_EQ(take_woken(waiting), std::vector<std::string>{"a"});
  EXPECT_EQ(look(WaitingClaims::Held::no_more), std::vector<std::string>());
}

TEST(WaitingClaims, TheSweepComesToEachQueue) {
  WaitingClaims waiting;
  for (const char* queue : {"a", "b", "c", "d"}) waiting.add(waiting_claim({queue}));
  take_woken(waiting);
  std::map<std::string, int> seen;
  for (int turn = 0; turn < 4; ++turn) {
    waiting.sweep(2, [&](const std::string& name) { return ++seen[name] == 2; });
  }
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(take_woken(waiting).size(), 4u);
}

TEST(WaitingClaims, ClearTellsOfThoseThatHadNotEnded) {
  WaitingClaims waiting;
  const OperationPtr one = waiting_claim({"a", "b"});
  const OperationPtr other = waiting_claim({"b"});
  waiting.add(one);
  waiting.add(other);
  end_elsewhere(waiting, one);
  std::vector<OperationPtr> told;
  waiting.clear([&](const OperationPtr& op) { told.push_back(op); });
  EXPECT_EQ(told, std::vector<OperationPtr>{other});
  EXPECT_TRUE(waiting.empty());
  EXPECT_FALSE(waiting.has_woken());
  EXPECT_EQ(waiting.next_deadline(), std::nullopt);
}

// -- against a naive model: a list of claims in their order

using Operations = std::vector<OperationPtr>;

Operations model_at(const Operations& model, const std::string& queue) {
  Operations there;
  std::ranges::copy_if(model, std::back_inserter(there), [&](const OperationPtr& op) {
    const auto& queues = std::get<core::ClaimRequest>(op->request).queues;
    return std::ranges::find(queues, queue) != queues.end();
  });
  return there;
}

Operations still_waiting_at(WaitingClaims& waiting, const std::string& queue) {
  Operations there;
  const auto no = number_of(waiting, queue);
  if (no == WaitingClaims::kNone) return there;
  for (auto at = waiting.first(no); at != WaitingClaims::kNone; at = waiting.next(at)) {
    const OperationPtr& op = waiting.operation(at);
    if (op->phase.load() == ClaimPhase::waiting) there.push_back(op);
  }
  return there;
}

void expect_as_model(WaitingClaims& waiting, const Operations& model,
                     const std::vector<std::string>& queues) {
  take_woken(waiting);
  std::int64_t first_end = std::numeric_limits<std::int64_t>::max();
  for (const OperationPtr& op : model) first_end = std::min(first_end, op->wait_until_boot_ms);
  RC_ASSERT(waiting.next_deadline().has_value() == !model.empty());
  if (!model.empty()) RC_ASSERT(*waiting.next_deadline() == first_end);
  for (const std::string& queue : queues) {
    const Operations wanted = model_at(model, queue);
    RC_ASSERT(waiting.waiting_at(queue) == wanted.size());
    RC_ASSERT(still_waiting_at(waiting, queue) == wanted);
  }
}

RC_GTEST_PROP(WaitingClaimsProperty, WhateverEndsThemTheOthersStandInTheirOrder, ()) {
  const std::vector<std::string> queues{"a", "b", "c"};
  WaitingClaims waiting;
  Operations model;
  const int steps = *rc::gen::inRange(0, 80);
  for (int i = 0; i < steps; ++i) {
    const int what = *rc::gen::inRange(0, 6);
    if (what <= 1 || model.empty()) {
      const int mask = *rc::gen::inRange(1, 8);
      std::vector<std::string> named;
      for (std::size_t bit = 0; bit < queues.size(); ++bit) {
        if ((mask >> bit & 1) != 0) named.push_back(queues[bit]);
      }
      model.push_back(waiting_claim(named, *rc::gen::inRange(1, 50)));
      waiting.add(model.back());
    } else if (what == 2) {
      const auto at = *rc::gen::inRange<std::size_t>(0, model.size());
      end_elsewhere(waiting, model[at]);
      model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (what == 3) {
      std::size_t budget = *rc::gen::inRange<std::size_t>(0, 6);
      waiting.drop_ended(budget);
    } else if (what == 4) {
      const std::string queue = *rc::gen::elementOf(queues);
      const auto no = number_of(waiting, queue);
      if (no == WaitingClaims::kNone) continue;
      const OperationPtr first = waiting.operation(waiting.first(no));
      waiting.remove(waiting.first(no));
      first->phase.store(ClaimPhase::ended);
      std::erase(model, first);
    } else {
      const std::int64_t now = *rc::gen::inRange(1, 50);
      std::size_t budget = *rc::gen::inRange<std::size_t>(0, 6);
      waiting.expire(now, budget, [&](const OperationPtr& op) {
        op->phase.store(ClaimPhase::ended);
        RC_ASSERT(op->wait_until_boot_ms <= now);
        RC_ASSERT(std::erase(model, op) == 1u);
      });
    }
    expect_as_model(waiting, model, queues);
  }
}

}  // namespace
}  // namespace tarry::embedded
