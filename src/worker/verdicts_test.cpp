#include "worker/verdicts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>

#include "base/text.h"
#include "core/limits.h"

namespace tarry::worker {
namespace {

using namespace std::chrono_literals;

TEST(Verdicts, AsTheyAre) {
  EXPECT_EQ(settlement_of(ack()).action, core::SettleAction::ack);
  EXPECT_EQ(settlement_of({.action = Action::release}).action, core::SettleAction::release);
  const Settlement later = settlement_of(retry(1500us));
  EXPECT_EQ(later.action, core::SettleAction::retry);
  EXPECT_EQ(later.delay, Millis(2));
  EXPECT_EQ(settlement_of(retry()).delay, std::nullopt);
  const Settlement buried = settlement_of(bury("bad address"));
  EXPECT_EQ(buried.action, core::SettleAction::bury);
  EXPECT_EQ(buried.reason, "bad address");
}

TEST(Verdicts, AnActionThatIsNoneIsARetry) {
  const Settlement none = settlement_of({.action = static_cast<Action>(77)});
  EXPECT_EQ(none.action, core::SettleAction::retry);
  EXPECT_NE(none.reason.find("action 77 must be ack"), std::string::npos) << none.reason;
}

TEST(Verdicts, DelaysAreCut) {
  EXPECT_EQ(settlement_of(retry(-1h)).delay, Millis(0));
  EXPECT_EQ(settlement_of(retry(std::chrono::years(1'000))).delay, Millis(core::kMaxDelayMs));
}

TEST(Verdicts, WhatDoesNotGoWithAnActionIsLeftOut) {
  const Settlement acked = settlement_of({.action = Action::ack, .delay = 3s, .reason = "why"});
  EXPECT_EQ(acked.delay, std::nullopt);
  EXPECT_EQ(acked.reason, "");
  EXPECT_EQ(settlement_of({.action = Action::bury, .delay = 3s}).delay, std::nullopt);
  EXPECT_EQ(settlement_of({.action = Action::retry, .reason = "why"}).reason, "why");
}

TEST(Verdicts, ReasonsAreCutBetweenCharacters) {
  EXPECT_EQ(fit_reason(std::string(255, 'r')), std::string(255, 'r'));
  EXPECT_EQ(fit_reason(std::string(256, 'r')), std::string(255, 'r'));
  // 254 bytes, then a character of two that would end at byte 256.
  EXPECT_EQ(fit_reason(std::string(254, 'r') + "\xC3\xA9" + "x"), std::string(254, 'r'));
  EXPECT_EQ(fit_reason("a\xFF"), "\"a\\xff\"");
}

RC_GTEST_PROP(Verdicts, AnyReasonFits, (const std::string& reason)) {
  const std::string fit = fit_reason(*rc::gen::element(reason, reason + std::string(300, '\xFE')));
  RC_ASSERT(fit.size() <= core::kMaxReason);
  RC_ASSERT(base::is_valid_utf8(fit));
}

}  // namespace
}  // namespace tarry::worker
