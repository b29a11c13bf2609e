#include "leases/settlement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>

#include "base/text/text.h"
#include "core/limits.h"

namespace tarry::leases {
namespace {

using namespace std::chrono_literals;
using core::SettleAction;

TEST(Settlement, DelaysAreCut) {
  EXPECT_EQ(fit({SettleAction::retry, -1h, {}}).delay, Millis(0));
  EXPECT_EQ(fit({SettleAction::retry, Millis(core::kMaxDelayMs + 1), {}}).delay,
            Millis(core::kMaxDelayMs));
  EXPECT_EQ(fit({SettleAction::retry, 3s, {}}).delay, Millis(3s));
  EXPECT_EQ(fit({SettleAction::retry, {}, {}}).delay, std::nullopt);
}

TEST(Settlement, WhatDoesNotGoWithAnActionIsLeftOut) {
  struct Case {
    SettleAction action;
    bool delay;
    bool reason;
  };
  for (const Case& each :
       {Case{SettleAction::ack, false, false}, Case{SettleAction::release, false, false},
        Case{SettleAction::bury, false, true}, Case{SettleAction::retry, true, true}}) {
    const Settlement settlement = fit({each.action, 3s, "why"});
    EXPECT_EQ(settlement.delay.has_value(), each.delay) << to_string(each.action);
    EXPECT_EQ(settlement.reason, each.reason ? "why" : "") << to_string(each.action);
  }
}

TEST(Settlement, ReasonsAreCutBetweenCharacters) {
  EXPECT_EQ(fit_reason(std::string(255, 'r')), std::string(255, 'r'));
  EXPECT_EQ(fit_reason(std::string(256, 'r')), std::string(255, 'r'));
  // 254 bytes, then a character of two bytes that would end at byte 256.
  EXPECT_EQ(fit_reason(std::string(254, 'r') + "\xC3\xA9" + "x"), std::string(254, 'r'));
  EXPECT_EQ(fit_reason("a\xFF"), "\"a\\xff\"");
}

RC_GTEST_PROP(Settlement, AnyReasonFits, (const std::string& reason)) {
  const std::string fit = fit_reason(*rc::gen::element(reason, reason + std::string(300, '\xFE')));
  RC_ASSERT(fit.size() <= core::kMaxReason);
  RC_ASSERT(base::is_valid_utf8(fit));
}

}  // namespace
}  // namespace tarry::leases
