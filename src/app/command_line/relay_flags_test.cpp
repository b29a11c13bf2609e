#include "app/command_line/relay_flags.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/relay_plan.h"

namespace tarry::app {
namespace {

using Words = std::vector<std::string>;

RelayFlags relay_flags_of(const Words& words) {
  CLI::App app;
  RelayFlags flags;
  add_relay_flags(app, flags);
  Words reversed = words;  // CLI11 expects them in reverse order
  std::ranges::reverse(reversed);
  app.parse(std::move(reversed));
  return flags;
}

TEST(RelayFlags, EveryFlagReachesItsMember) {
  const RelayFlags flags =
      relay_flags_of({"orders.*",       "mail",        "--to",           "redis://h?list=due",
                      "--threads",      "2",           "--in-flight",    "30",
                      "--batch",        "40",          "--rate",         "50",
                      "--concurrency",  "5",           "--max-attempts", "6",
                      "--lease",        "7m",          "--drain",        "8s",
                      "--coordination", "redis://h/9", "--session",      "11s"});
  EXPECT_TRUE(flags.plan_given());
  const RelayPlan plan = plan_of(flags, {"true", "-x"});
  EXPECT_EQ(plan.options.name, "relay");
  EXPECT_EQ(plan.options.relay.queues, (Words{"orders.*", "mail"}));
  EXPECT_EQ(plan.to, "redis://h?list=due");
  EXPECT_EQ(plan.command, (Words{"true", "-x"}));
  tarry::testing::expect_numbers_given(plan);
  EXPECT_EQ(plan.concurrency, 5u);
  EXPECT_EQ(plan.coordination, "redis://h/9");
  EXPECT_EQ(plan.line, 0u);
}

TEST(RelayFlags, WhatIsNotSaidIsAsDocumented) {
  const RelayPlan plan = plan_of(relay_flags_of({"orders", "--to", "stdout"}), {});
  tarry::testing::expect_documented_defaults(plan);
}

TEST(RelayFlags, ACommandHasTwiceItsConcurrencyInFlight) {
  const Words command = {"orders", "--to", "command"};
  EXPECT_EQ(plan_of(relay_flags_of(command), {"true"}).options.relay.in_flight, 2u);
  Words eight = command;
  eight.insert(eight.end(), {"--concurrency", "8"});
  EXPECT_EQ(plan_of(relay_flags_of(eight), {"true"}).options.relay.in_flight, 16u);
}

// Each of these flags contradicts --config, and must be reported.
TEST(RelayFlags, EachAloneSaysSomethingOfARelayButConfig) {
  EXPECT_FALSE(relay_flags_of({}).plan_given());
  const RelayFlags config = relay_flags_of({"--config", "tarry.toml"});
  EXPECT_FALSE(config.plan_given());
  EXPECT_EQ(config.config, "tarry.toml");
  for (const Words& words : std::vector<Words>{{"orders"},
                                               {"--to", "stdout"},
                                               {"--threads", "1"},
                                               {"--in-flight", "1"},
                                               {"--batch", "1"},
                                               {"--rate", "1"},
                                               {"--concurrency", "1"},
                                               {"--max-attempts", "1"},
                                               {"--lease", "1s"},
                                               {"--drain", "1s"},
                                               {"--coordination", "all"},
                                               {"--session", "1s"}}) {
    EXPECT_TRUE(relay_flags_of(words).plan_given()) << words[0];
  }
}

}  // namespace
}  // namespace tarry::app
