// Claims that wait at several queues of a layout, without an engine: only the test wakes them, and
// their alarms do not go off.
#include "engines/redis/layouts/verbs/layout_claims.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/claims_rig.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class LayoutClaimsTest : public testing::ClaimsRig<LayoutClaims> {
 protected:
  LayoutClaimsTest() {
    bool is_loaded = false;
    scripts_->load_scripts([&](const Result<void>& loaded) { is_loaded = loaded.has_value(); },
                           true);
    run_until([&] { return is_loaded; });
    context_.emplace(LayoutContext{*scripts_, spec_, names_, limits_, [](std::string_view) {}});
    claims_ = std::make_unique<LayoutClaims>(*context_, alarms_);
  }
  ~LayoutClaimsTest() override { end(); }

  void push(const std::string& queue, const std::string& member) {
    (void)server_.ask({"ZADD", queue, "1", member});
  }

  const LayoutSpec spec_;
  const LayoutNames names_ = *LayoutNames::make(spec_);
  const core::Limits limits_;
  std::optional<LayoutContext> context_;
};

TEST_F(LayoutClaimsTest, WhatOneLeavesOverIsForThoseThatLookElsewhereToo) {
  const auto first = claim({"a", "b"});
  const auto second = claim({"a", "b"});
  run_until_they_wait("a", 2);
  push("a", "one");
  push("a", "two");
  claims_->wake("a");  // the first one looks there
  claims_->wake("b");  // and the second one here
  run_until([&] { return first->is_answered() && second->is_answered(); });
  EXPECT_EQ(first->found(), 1u);
  EXPECT_EQ(second->found(), 1u);
}

TEST_F(LayoutClaimsTest, WhatWakesAllWakesThoseThatLookForTheFirstTimeToo) {
  const auto waiting = claim({"a"});
  do {
    io_.poll();  // until Redis has answered that there is no message
  } while (server_.ask({"INFO", "commandstats"}).find("cmdstat_evalsha:") == std::string::npos);
  push("a", "one");
  claims_->wake_all();
  run_until([&] { return waiting->is_answered(); });
  EXPECT_EQ(waiting->found(), 1u);
}

TEST_F(LayoutClaimsTest, NothingIsKeptOfQueuesAtWhichNobodyWaitsAnyMore) {
  const auto waiting = claim({"a"});
  run_until_they_wait("a", 1);
  for (int i = 0; i < 500; ++i) {
    const auto once = claim({"q" + std::to_string(i)}, i % 2 == 0 ? 0ms : 1ms);
    if (i % 2 != 0) run_until_they_wait("q" + std::to_string(i), 1);
    clock_->advance(1);
    alarms_.moved();
    run_until([&] { return once->is_answered(); });
  }
  EXPECT_LT(claims_->watched(), 150u);
  push("a", "one");
  claims_->wake("a");
  run_until([&] { return waiting->is_answered(); });
  EXPECT_EQ(waiting->found(), 1u);
}

}  // namespace
}  // namespace tarry::redis
