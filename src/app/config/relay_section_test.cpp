#include "app/config/relay_section.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/relay_plan.h"

namespace tarry::app::config {
namespace {

using Names = std::vector<std::string>;

// The relays of a file that has no errors.
std::vector<RelayPlan> relays_in(const std::string& text) {
  const auto root = parse_toml(text, "f.toml");
  EXPECT_TRUE(root) << (root ? "" : root.error().message);
  if (!root) return {};
  Problems problems("f.toml");
  Section whole(*root, "", problems);
  std::vector<RelayPlan> plans = read_relays(whole);
  whole.finish();
  EXPECT_EQ(problems.lines(), Names());
  return plans;
}

TEST(RelaySection, EveryKeyReachesItsMember) {
  const auto plans = relays_in(
      "[[relay]]\nname = 'mine'\nqueues = ['orders.*', 'mail']\n"
      "to = 'redis://127.0.0.1/0?list=due'\nthreads = 2\nin_flight = 30\nbatch = 40\nrate = 50\n"
      "max_attempts = 6\nlease = '7m'\ndrain = '8s'\ncoordination = 'redis://127.0.0.1/9'\n"
      "session = '11s'\n");
  ASSERT_EQ(plans.size(), 1u);
  const RelayPlan& plan = plans[0];
  EXPECT_EQ(plan.options.name, "mine");
  EXPECT_EQ(plan.options.relay.queues, (Names{"orders.*", "mail"}));
  EXPECT_EQ(plan.to, "redis://127.0.0.1/0?list=due");
  EXPECT_EQ(plan.command, Names());
  tarry::testing::expect_numbers_given(plan);
  EXPECT_EQ(plan.coordination, "redis://127.0.0.1/9");
  EXPECT_EQ(plan.line, 1u);
}

TEST(RelaySection, ACommandHasItsWordsAndItsConcurrency) {
  const auto plans = relays_in(
      "[[relay]]\nqueue = 'a'\nto = 'command'\ncommand = ['true', '-x', 'a b']\nconcurrency = 12\n"
      "in_flight = 13\n");
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].to, "command");
  EXPECT_EQ(plans[0].command, (Names{"true", "-x", "a b"}));
  EXPECT_EQ(plans[0].concurrency, 12u);
  EXPECT_EQ(plans[0].options.relay.in_flight, 13u);
  const relay::SinkWish wish = plans[0].wish({});
  EXPECT_EQ(wish.to, "command");
  EXPECT_EQ(wish.command, plans[0].command);
  EXPECT_EQ(wish.concurrency, 12u);
}

TEST(RelaySection, WhatIsNotSaidIsAsDocumented) {
  const auto plans = relays_in("[[relay]]\nqueue = 'orders'\nto = 'stdout'\n");
  ASSERT_EQ(plans.size(), 1u);
  const RelayPlan& plan = plans[0];
  EXPECT_EQ(plan.options.name, "orders");
  EXPECT_EQ(plan.options.relay.queues, Names{"orders"});
  tarry::testing::expect_documented_defaults(plan);
}

TEST(RelaySection, ACommandHasTwiceItsConcurrencyInFlight) {
  const std::string command = "[[relay]]\nqueue = 'a'\nto = 'command'\ncommand = ['true']\n";
  const auto alone = relays_in(command);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].options.relay.in_flight, 2u);
  const auto eight = relays_in(command + "concurrency = 8\n");
  ASSERT_EQ(eight.size(), 1u);
  EXPECT_EQ(eight[0].options.relay.in_flight, 16u);
}

TEST(RelaySection, ANameThatIsTakenFromALongQueueIsCut) {
  const std::string queue(100, 'q');
  const auto plans = relays_in("[[relay]]\nqueue = '" + queue + "'\nto = 'stdout'\n");
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].options.name, queue.substr(0, 64));
}

}  // namespace
}  // namespace tarry::app::config
