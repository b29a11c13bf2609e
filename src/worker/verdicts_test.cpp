#include "worker/verdicts.h"

#include <gtest/gtest.h>

#include <chrono>

#include "core/limits.h"

namespace tarry::worker {
namespace {

using namespace std::chrono_literals;

TEST(Verdicts, AsTheyAre) {
  EXPECT_EQ(settlement_of(ack()).action, core::SettleAction::ack);
  EXPECT_EQ(settlement_of({.action = Action::release}).action, core::SettleAction::release);
  const leases::Settlement later = settlement_of(retry(1500us));
  EXPECT_EQ(later.action, core::SettleAction::retry);
  EXPECT_EQ(later.delay, Millis(2));
  EXPECT_EQ(settlement_of(retry()).delay, std::nullopt);
  const leases::Settlement buried = settlement_of(bury("bad address"));
  EXPECT_EQ(buried.action, core::SettleAction::bury);
  EXPECT_EQ(buried.reason, "bad address");
}

TEST(Verdicts, AnActionThatIsNoneIsARetry) {
  const leases::Settlement none = settlement_of({.action = static_cast<Action>(77)});
  EXPECT_EQ(none.action, core::SettleAction::retry);
  EXPECT_NE(none.reason.find("action 77 must be ack"), std::string::npos) << none.reason;
}

TEST(Verdicts, DelaysAreCut) {
  EXPECT_EQ(settlement_of(retry(-1h)).delay, Millis(0));
  EXPECT_EQ(settlement_of(retry(std::chrono::years(1'000))).delay, Millis(core::kMaxDelayMs));
}

TEST(Verdicts, WhatDoesNotGoWithAnActionIsLeftOut) {
  const leases::Settlement acked =
      settlement_of({.action = Action::ack, .delay = 3s, .reason = "why"});
  EXPECT_EQ(acked.delay, std::nullopt);
  EXPECT_EQ(acked.reason, "");
  EXPECT_EQ(settlement_of({.action = Action::bury, .delay = 3s}).delay, std::nullopt);
  EXPECT_EQ(settlement_of({.action = Action::retry, .reason = "why"}).reason, "why");
}

}  // namespace
}  // namespace tarry::worker
