#include "core/engine_parts/waiting_lists.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tarry::core {
namespace {

using WaitLists = WaitingLists<int, int>;

std::vector<int> waiting_there(const WaitLists& lists, const std::string& queue) {
  std::vector<int> claims;
  const WaitLists::QueueNo no = lists.find(queue);
  if (no == WaitLists::kNone) return claims;
  for (auto at = lists.first(no); at != WaitLists::kNone; at = lists.next(at)) {
    claims.push_back(lists.claim(WaitLists::claim_at(at)));
  }
  return claims;
}

TEST(WaitingLists, ClaimsStandAtEachQueueInTheirOrder) {
  WaitLists lists;
  const auto first = lists.enter({"a", "b"}, 1);
  const auto second = lists.enter({"b", "c"}, 2);
  EXPECT_EQ(waiting_there(lists, "b"), std::vector<int>());
  lists.park(first);
  lists.park(second);
  EXPECT_EQ(waiting_there(lists, "a"), std::vector<int>{1});
  EXPECT_EQ(waiting_there(lists, "b"), (std::vector<int>{1, 2}));
  EXPECT_EQ(lists.parked_at(lists.find("b")), 2u);

  // A claim that found nothing is parked at the end again.
  lists.unpark(first);
  EXPECT_EQ(waiting_there(lists, "b"), std::vector<int>{2});
  EXPECT_EQ(lists.entered_at(lists.find("a")), 1u);
  lists.park(first);
  EXPECT_EQ(waiting_there(lists, "b"), (std::vector<int>{2, 1}));
}

TEST(WaitingLists, APlaceTellsWhichOfTheClaimsQueuesItIs) {
  WaitLists lists;
  const auto no = lists.enter({"x", "y", "z"}, 7);
  lists.park(no);
  const auto at = lists.first(lists.find("y"));
  EXPECT_EQ(WaitLists::claim_at(at), no);
  EXPECT_EQ(WaitLists::index_at(at), 1u);
  EXPECT_EQ(lists.queue_of(no, 2), lists.find("z"));
}

TEST(WaitingLists, AQueueIsForgottenWithTheLastClaimThatNamesIt) {
  WaitLists lists;
  const auto first = lists.enter({"a", "b"}, 1);
  const auto second = lists.enter({"b"}, 2);
  lists.queue(lists.find("a")) = 10;
  lists.queue(lists.find("b")) = 20;
  std::vector<int> gone;
  lists.leave(first, [&](int& data) { gone.push_back(data); });
  EXPECT_EQ(gone, std::vector<int>{10});
  EXPECT_EQ(lists.find("a"), WaitLists::kNone);
  EXPECT_EQ(lists.queues(), 1u);
  lists.leave(second, [&](int& data) { gone.push_back(data); });
  EXPECT_EQ(gone, (std::vector<int>{10, 20}));
  EXPECT_TRUE(lists.empty());
  // The new queue gets the number of the removed one, but not its data.
  lists.enter({"c"}, 3);
  EXPECT_EQ(lists.queue(lists.find("c")), 0);
}

// -- against a naive model

struct NaiveLists {
  struct Claim {
    std::vector<std::string> queues;
    bool parked = false;
  };
  std::map<int, Claim> claims;
  std::map<std::string, std::vector<int>> lists;

  void unpark(int claim) {
    claims[claim].parked = false;
    for (const std::string& queue : claims[claim].queues) std::erase(lists[queue], claim);
  }
  void park(int claim) {
    claims[claim].parked = true;
    for (const std::string& queue : claims[claim].queues) lists[queue].push_back(claim);
  }
  [[nodiscard]] std::set<std::string> named() const {
    std::set<std::string> names;
    for (const auto& [id, claim] : claims) names.insert(claim.queues.begin(), claim.queues.end());
    return names;
  }
};

void expect_same(const WaitLists& lists, NaiveLists& model, const std::vector<std::string>& all) {
  const std::set<std::string> named = model.named();
  RC_ASSERT(lists.queues() == named.size());
  RC_ASSERT(lists.size() == model.claims.size());
  for (const std::string& queue : all) {
    const auto no = lists.find(queue);
    RC_ASSERT((no != WaitLists::kNone) == named.contains(queue));
    RC_ASSERT(waiting_there(lists, queue) == model.lists[queue]);
    if (no != WaitLists::kNone) RC_ASSERT(lists.parked_at(no) == model.lists[queue].size());
  }
}

RC_GTEST_PROP(WaitingListsProperty, AnyOrderOfCallsLeavesWhatANaiveOneLeaves, ()) {
  const std::vector<std::string> all{"a", "b", "c", "d", "e"};
  WaitLists lists;
  NaiveLists model;
  std::map<int, WaitLists::ClaimNo> numbers;
  int last = 0;
  const int steps = *rc::gen::inRange(0, 120);
  for (int i = 0; i < steps; ++i) {
    if (numbers.empty() || *rc::gen::inRange(0, 3) == 0) {
      const auto mask = *rc::gen::inRange(1, 1 << 5);
      std::vector<std::string> queues;
      for (std::size_t bit = 0; bit < all.size(); ++bit) {
        if ((mask >> bit & 1) != 0) queues.push_back(all[bit]);
      }
      if (*rc::gen::arbitrary<bool>()) std::ranges::reverse(queues);
      ++last;
      numbers[last] = lists.enter(queues, last);
      model.claims[last].queues = queues;
    } else {
      auto at = numbers.begin();
      std::advance(at, *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(numbers)));
      const auto [id, no] = *at;
      if (*rc::gen::inRange(0, 3) == 0) {
        lists.leave(no);
        if (model.claims[id].parked) model.unpark(id);
        model.claims.erase(id);
        numbers.erase(at);
      } else if (model.claims[id].parked) {
        lists.unpark(no);
        model.unpark(id);
      } else {
        lists.park(no);
        model.park(id);
      }
    }
    expect_same(lists, model, all);
  }
}

}  // namespace
}  // namespace tarry::core
