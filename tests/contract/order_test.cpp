// Guarantee 8: among what is due, by priority, then by due time, then in push order.
//
// All keys have the same part in braces, so they share a shard even if the engine has several.
#include "contract.h"

namespace tarry::contract {
namespace {

class Order : public Contract {
 protected:
  std::vector<std::string> claimed_one_by_one() {
    std::vector<std::string> keys;
    for (;;) {
      const std::vector<Delivery> one = claim(queue(), 1);
      if (one.empty()) return keys;
      keys.emplace_back(one[0].key());
    }
  }
};
TARRY_ON_ALL_ENGINES(Order);

TEST_P(Order, ByPriorityFirst) {
  const Queue q = queue();
  (void)must(q.push({.key = "{o}3", .payload = "x", .due = in(1s), .priority = 3'000'000'000}));
  (void)must(q.push({.key = "{o}0", .payload = "x", .due = in(4s), .priority = 0}));
  (void)must(q.push({.key = "{o}2", .payload = "x", .due = in(2s)}));
  (void)must(q.push({.key = "{o}1", .payload = "x", .due = in(3s), .priority = 1}));
  (void)must(q.push({.key = "{o}4", .payload = "x", .due = in(1s), .priority = 4'294'967'295}));
  clock().advance(10s);
  EXPECT_EQ(claimed_one_by_one(),
            (std::vector<std::string>{"{o}0", "{o}1", "{o}2", "{o}3", "{o}4"}));
}

TEST_P(Order, TimeDecidesWhenPriorityOnlyWhoGoesFirstThen) {
  const Queue q = queue();
  (void)must(q.push({.key = "{o}urgent", .payload = "x", .due = in(1h), .priority = 0}));
  (void)must(q.push({.key = "{o}lazy", .payload = "x", .priority = 9'999}));
  EXPECT_EQ(claim_one(q).key(), "{o}lazy");
}

TEST_P(Order, ThenByDueTime) {
  const Queue q = queue();
  for (const int second : {5, 3, 1, 4, 2}) {
    (void)must(q.push({.key = "{o}" + std::to_string(second),
                       .payload = "x",
                       .due = in(std::chrono::seconds(second))}));
  }
  clock().advance(10s);
  EXPECT_EQ(claimed_one_by_one(),
            (std::vector<std::string>{"{o}1", "{o}2", "{o}3", "{o}4", "{o}5"}));
}

TEST_P(Order, ThenAsPushed) {
  if (!keeps_push_order()) GTEST_SKIP() << "ties go by member here";
  const Queue q = queue();
  std::vector<std::string> pushed;
  for (int i = 0; i < 60; ++i) pushed.push_back("{o}" + std::to_string((i * 7919) % 1000));
  for (const std::string& key : pushed)
    (void)must(q.push({.key = key, .payload = "x", .due = in(1s)}));
  clock().advance(1s);
  EXPECT_EQ(claimed_one_by_one(), pushed);
}

TEST_P(Order, AsPushedAlsoWithinABatchAndAClaim) {
  if (!keeps_push_order()) GTEST_SKIP() << "ties go by member here";
  const Queue q = queue();
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back("{o}" + std::to_string((i * 7919) % 1000));
  std::vector<Push> messages;
  for (const std::string& key : keys) messages.push_back({.key = key, .payload = "x"});
  (void)must(q.push(messages));
  EXPECT_EQ(keys_of(claim(q, 100)), keys);
}

TEST_P(Order, HoldsWithinOneClaim) {
  const Queue q = queue();
  (void)must(q.push({.key = "{o}c", .payload = "x", .due = in(3s)}));
  (void)must(q.push({.key = "{o}b", .payload = "x", .due = in(2s)}));
  (void)must(q.push({.key = "{o}a", .payload = "x", .due = in(4s), .priority = 1}));
  clock().advance(10s);
  EXPECT_EQ(keys_of(claim(q, 10)), (std::vector<std::string>{"{o}a", "{o}b", "{o}c"}));
}

TEST_P(Order, HoldsWhenTheyBecameDueLongApart) {
  const Queue q = queue();
  (void)must(q.push({.key = "{o}2", .payload = "x", .due = in(1h)}));
  (void)must(q.push({.key = "{o}3", .payload = "x", .due = in(100h)}));
  (void)must(q.push({.key = "{o}1", .payload = "x", .due = in(1s)}));
  clock().advance(1s);
  clock().advance(2h);
  clock().advance(200h);
  EXPECT_EQ(claimed_one_by_one(), (std::vector<std::string>{"{o}1", "{o}2", "{o}3"}));
}

TEST_P(Order, AReleasedOneGoesBackToItsPlace) {
  const Queue q = queue();
  for (const int second : {1, 2, 3}) {
    (void)must(q.push({.key = "{o}" + std::to_string(second),
                       .payload = "x",
                       .due = in(std::chrono::seconds(second))}));
  }
  clock().advance(10s);
  const Delivery first = claim(q, 1).at(0);
  EXPECT_EQ(first.key(), "{o}1");
  EXPECT_EQ(claim(q, 1).at(0).key(), "{o}2");
  EXPECT_EQ(must(q.release(first.receipt())), Outcome::done);
  EXPECT_EQ(claimed_one_by_one(), (std::vector<std::string>{"{o}1", "{o}3"}));
}

TEST_P(Order, MovingOneMovesItsPlace) {
  const Queue q = queue();
  for (const int second : {1, 2, 3}) {
    (void)must(q.push({.key = "{o}" + std::to_string(second),
                       .payload = "x",
                       .due = in(std::chrono::seconds(second))}));
  }
  (void)must(q.reschedule("{o}1", in(5s)));
  clock().advance(10s);
  EXPECT_EQ(claimed_one_by_one(), (std::vector<std::string>{"{o}2", "{o}3", "{o}1"}));
}

TEST_P(Order, ANewPriorityMovesItsPlace) {
  const Queue q = queue();
  for (const char* key : {"{o}1", "{o}2", "{o}3"}) (void)must(q.push({.key = key, .payload = "x"}));
  const Reschedule moved{.key = "{o}3", .due = in(0s), .priority = 1};
  (void)must(must(q.reschedule(std::span(&moved, 1))).at(0));
  EXPECT_EQ(claimed_one_by_one(), (std::vector<std::string>{"{o}3", "{o}1", "{o}2"}));
}

}  // namespace
}  // namespace tarry::contract
