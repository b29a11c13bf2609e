#include "server/presets/preset_engine.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/fake_engine.h"

namespace tarry::presets {
namespace {

using tarry::testing::FakeEngine;

QueueRules orders_rule(Millis lease) {
  QueueRules rules;
  SettingsPatch patch;
  patch.lease = lease;
  rules.add({"orders.*", patch});
  return rules;
}

core::PushRequest push_to(const std::string& queue, const std::string& key) {
  core::PushRequest request{queue, {}, {}};
  core::PushItem item;
  item.key = core::append(request.bytes, key);
  request.items.push_back(item);
  return request;
}

class Presets : public ::testing::Test {
 protected:
  void submit(core::Request request) {
    answers_.emplace_back();
    const std::size_t at = answers_.size() - 1;
    engine_.submit(std::move(request), [this, at](Result<core::Reply> reply) {
      answers_[at] = reply ? "done" : reply.error().message;
    });
  }
  // The engine answers that the queue does not exist.
  void answer_absent() {
    auto held = inner_.next();
    ASSERT_TRUE(std::holds_alternative<core::StatsRequest>(held.request));
    EXPECT_EQ(std::get<core::StatsRequest>(held.request).queue, "orders.eu");
    held.answer(Error{ErrorCode::not_found, "there is no queue"});
  }
  Millis answer_configure() {
    auto held = inner_.next();
    const auto* configure = std::get_if<core::ConfigureRequest>(&held.request);
    if (configure == nullptr) return Millis(-1);
    EXPECT_EQ(configure->queue, "orders.eu");
    const Millis lease = configure->patch.lease.value_or(Millis(0));
    held.answer(core::Reply(core::ConfigureReply()));
    return lease;
  }
  std::string next_key() {
    auto held = inner_.next();
    const auto* push = std::get_if<core::PushRequest>(&held.request);
    if (push == nullptr) return "another request";
    std::string key(core::view(push->bytes, push->items.front().key));
    held.answer(core::Reply(core::PushReply()));
    return key;
  }

  FakeEngine inner_;
  PresetEngine engine_{inner_, orders_rule(Millis(60'000))};
  std::vector<std::optional<std::string>> answers_;
};

TEST_F(Presets, AQueueHasItsSettingsBeforeItsFirstMessage) {
  submit(push_to("orders.eu", "1"));
  submit(push_to("orders.eu", "2"));
  submit(core::GetRequest{"orders.eu", {}, {}, true});
  answer_absent();
  EXPECT_EQ(answer_configure(), Millis(60'000));
  EXPECT_EQ(next_key(), "1");
  EXPECT_EQ(next_key(), "2");
  auto get = inner_.next();
  EXPECT_TRUE(std::holds_alternative<core::GetRequest>(get.request));
  get.answer(core::Reply(core::GetReply()));
  // From now on requests are passed on directly.
  submit(push_to("orders.eu", "3"));
  EXPECT_EQ(next_key(), "3");
  EXPECT_EQ(inner_.submitted(), 6u);
}

TEST_F(Presets, AQueueThatIsThereKeepsWhatItHas) {
  submit(push_to("orders.eu", "1"));
  inner_.next().answer(core::Reply(StoreStats()));
  EXPECT_EQ(next_key(), "1");
  EXPECT_EQ(answers_.front(), "done");
}

TEST_F(Presets, OtherQueuesAndReadsGoStraightThrough) {
  submit(push_to("others", "1"));
  EXPECT_EQ(next_key(), "1");
  submit(core::GetRequest{"orders.eu", {}, {}, true});
  inner_.next().answer(core::Reply(core::GetReply()));
  submit(core::StatsRequest{});
  inner_.next().answer(core::Reply(StoreStats()));
  submit(push_to("orders.\n", "1"));  // an invalid name, which the engine refuses
  EXPECT_EQ(next_key(), "1");
}

TEST_F(Presets, OtherQueuesDoNotWait) {
  submit(push_to("orders.eu", "1"));
  auto look = inner_.next();
  submit(push_to("others", "2"));
  EXPECT_EQ(next_key(), "2");
  look.answer(Error{ErrorCode::not_found, "no queue"});
  EXPECT_EQ(answer_configure(), Millis(60'000));
  EXPECT_EQ(next_key(), "1");
}

TEST_F(Presets, WithoutItsSettingsNoQueueIsMade) {
  submit(push_to("orders.eu", "1"));
  answer_absent();
  inner_.next().answer(Error{ErrorCode::unavailable, "gone"});
  EXPECT_EQ(answers_.front(), "the settings of queue orders.eu could not be put in place: gone");
  // The next request tries again.
  submit(push_to("orders.eu", "2"));
  answer_absent();
  EXPECT_EQ(answer_configure(), Millis(60'000));
  EXPECT_EQ(next_key(), "2");
}

TEST_F(Presets, NewRulesHoldForQueuesMadeFromThenOn) {
  engine_.set_rules(orders_rule(Millis(5'000)));
  submit(core::ConfigureRequest{"orders.eu", {}});
  answer_absent();
  EXPECT_EQ(answer_configure(), Millis(5'000));
  EXPECT_EQ(answer_configure(), Millis(0));  // the settings of the request itself
}

TEST_F(Presets, AQueueThatWasRemovedIsMadeAnewWithItsSettings) {
  submit(push_to("orders.eu", "1"));
  inner_.next().answer(core::Reply(StoreStats()));
  EXPECT_EQ(next_key(), "1");
  submit(core::RemoveRequest{"orders.eu", false});
  submit(core::GetRequest{"orders.eu", {}, {}, true});
  submit(push_to("orders.eu", "2"));
  submit(core::RemoveRequest{"orders.eu", true});
  submit(push_to("orders.eu", "3"));
  auto removal = inner_.next();
  ASSERT_TRUE(std::holds_alternative<core::RemoveRequest>(removal.request));
  EXPECT_EQ(inner_.submitted(), 3u);  // later requests wait
  removal.answer(core::Reply(core::CountReply{1}));
  auto get = inner_.next();
  EXPECT_TRUE(std::holds_alternative<core::GetRequest>(get.request));
  get.answer(core::Reply(core::GetReply()));
  answer_absent();
  EXPECT_EQ(answer_configure(), Millis(60'000));
  EXPECT_EQ(next_key(), "2");
  auto second = inner_.next();
  ASSERT_TRUE(std::holds_alternative<core::RemoveRequest>(second.request));
  second.answer(Error{ErrorCode::unavailable, "gone"});
  answer_absent();
  EXPECT_EQ(answer_configure(), Millis(60'000));
  EXPECT_EQ(next_key(), "3");
}

TEST_F(Presets, ClosingAnswersWhatWaits) {
  submit(push_to("orders.eu", "1"));
  submit(core::GetRequest{"orders.eu", {}, {}, true});
  engine_.close();
  EXPECT_EQ(answers_[0], "the settings of queue orders.eu could not be put in place: closed");
  EXPECT_EQ(answers_[1], "closed");
}

}  // namespace
}  // namespace tarry::presets
