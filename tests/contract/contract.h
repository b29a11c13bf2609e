// Contract: the fixture of the suite. Each test gets a store of its own, and at the end the
// conservation of counts (guarantee 9) is checked on every queue that it left behind.
#pragma once

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "helpers.h"
#include "printing.h"
#include "rig.h"

namespace tarry::contract {

/// accepted = all that is there and all that became of the rest.
void expect_conserved(const QueueStats& stats);
void expect_conserved(Store& store);

/// Two looks at a message that nothing has happened to.
void expect_same(const std::optional<MessageInfo>& before, const std::optional<MessageInfo>& after);

/// One line that names all of `parts`.
void expect_names(const Error& error, std::initializer_list<std::string_view> parts);

class OnRig : public testing::Test {
 protected:
  explicit OnRig(const EngineSpec& spec) : rig_(std::in_place, spec) {}
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] Rig& rig() { return *rig_; }
  [[nodiscard]] Store& store() { return rig_->store(); }
  /// Both skip the test where the store's clock is not the test's.
  [[nodiscard]] ManualClock& clock();
  [[nodiscard]] std::int64_t now_ms() const;
  [[nodiscard]] Queue queue(std::string_view name = "q") { return store().queue(name); }
  [[nodiscard]] bool is(Kind kind) const { return rig_->spec().kind == kind; }
  [[nodiscard]] bool is_by(By by) const { return rig_->spec().by == by; }
  [[nodiscard]] bool is_remote() const { return !is_by(By::library); }
  [[nodiscard]] bool one_shard() const { return rig_->spec().shards == 1; }
  /// Delays and leases go by a clock that does not step, beside the wall clock that due times go
  /// by. Redis has the one.
  [[nodiscard]] bool has_two_clocks() const { return !is(Kind::redis); }
  /// What ties in priority and due time goes in push order: on the embedded engine (guarantee 8).
  [[nodiscard]] bool keeps_push_order() const { return !is(Kind::redis); }
  /// For a test that leaves no store to be checked.
  void drop_rig() { rig_.reset(); }

 private:
  std::optional<Rig> rig_;
};

class Contract : public OnRig, public testing::WithParamInterface<EngineSpec> {
 protected:
  Contract() : OnRig(GetParam()) {}
};

/// The name of the engine, for the names of tests.
struct EngineName {
  std::string operator()(const testing::TestParamInfo<EngineSpec>& info) const {
    return info.param.name;
  }
};

}  // namespace tarry::contract

#define TARRY_ON_ALL_ENGINES(Suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(On, Suite, testing::ValuesIn(::tarry::contract::all_engines()), \
                           ::tarry::contract::EngineName())
#define TARRY_ON_DURABLE_ENGINES(Suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(On, Suite, testing::ValuesIn(::tarry::contract::durable_engines()), \
                           ::tarry::contract::EngineName())
