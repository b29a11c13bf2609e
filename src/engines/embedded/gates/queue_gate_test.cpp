#include "engines/embedded/gates/queue_gate.h"

#include <gtest/gtest.h>

#include "engines/embedded/gates/queue_gates.h"

namespace tarry::embedded {
namespace {

using Shards = QueueGate::Shards;

TEST(QueueGate, GivesWhatIsFree) {
  QueueGate gate(1);
  gate.set({.max_leased = 5});
  gate.join(1);
  EXPECT_EQ(gate.take(0, 3, 0, 0).all, 3u);
  EXPECT_EQ(gate.take(1, 3, 0, 0).all, 1u);
  EXPECT_EQ(gate.take(0, 3, 0, 0).all, 0u);
  EXPECT_EQ(gate.give_back(2), Shards());
  EXPECT_EQ(gate.take(1, 9, 0, 0).all, 2u);
}

TEST(QueueGate, GivesAllWithoutALimit) {
  QueueGate gate(1);
  EXPECT_EQ(gate.take(0, 1'000'000, 0, 0).all, 1'000'000u);
  EXPECT_TRUE(gate.has_room(0, 0, 0));
}

TEST(QueueGate, AShardUsesItsOwnFreedLeasesAgain) {
  QueueGate gate(1);
  gate.set({.max_leased = 2});
  gate.join(2);
  const auto taken = gate.take(0, 5, 1, 0);
  EXPECT_EQ(taken.all, 1u);
  EXPECT_EQ(taken.own, 1u);
  EXPECT_EQ(gate.take(1, 5, 0, 0).all, 0u);  // the other one is still leased
}

TEST(QueueGate, AShardLeavesItsFreedLeasesToShardsThatWait) {
  QueueGate gate(1);
  gate.set({.max_leased = 1});
  gate.join(1);
  EXPECT_FALSE(gate.has_room(1, 0, 0));
  EXPECT_FALSE(gate.has_room(0, 1, 0));
  EXPECT_EQ(gate.take(0, 1, 1, 0).all, 0u);
  EXPECT_EQ(gate.give_back(1), Shards(0b11));
  EXPECT_EQ(gate.take(1, 1, 0, 0).all, 1u);
  EXPECT_FALSE(gate.has_room(0, 0, 0));
  EXPECT_EQ(gate.give_back(1), Shards(0b01));
}

TEST(QueueGate, ALowerLimitTakesNothingBack) {
  QueueGate gate(1);
  gate.set({.max_leased = 5});
  EXPECT_EQ(gate.take(0, 5, 0, 0).all, 5u);
  gate.set({.max_leased = 2});
  EXPECT_EQ(gate.take(0, 5, 2, 0).all, 0u);
  EXPECT_EQ(gate.take(0, 5, 4, 0).all, 1u);
}

TEST(QueueGate, HoldsTheRateForAllShards) {
  QueueGate gate(1);
  gate.set({.rate = {10, std::chrono::seconds(1), 2}});
  EXPECT_FALSE(gate.rate_next_ms(50));
  EXPECT_EQ(gate.take(0, 1, 0, 50).all, 1u);
  EXPECT_EQ(gate.take(1, 5, 0, 50).all, 1u);
  EXPECT_FALSE(gate.has_room(0, 2, 50));
  EXPECT_EQ(gate.rate_next_ms(50), 150);
  EXPECT_EQ(gate.take(1, 5, 0, 149).all, 0u);
  EXPECT_EQ(gate.take(1, 5, 0, 150).all, 1u);
  gate.note_unused(1);
  EXPECT_TRUE(gate.has_room(0, 0, 150));
}

TEST(QueueGates, ShardsShareTheGateOfAQueueWhileOneHasIt) {
  QueueGates gates(2);
  auto one = gates.find_or_make("q");
  EXPECT_EQ(gates.find_or_make("q"), one);
  const auto other = gates.find_or_make("r");
  EXPECT_NE(other->number(), one->number());
  const std::uint64_t number = one->number();
  one.reset();
  EXPECT_NE(gates.find_or_make("q")->number(), number);
}

}  // namespace
}  // namespace tarry::embedded
