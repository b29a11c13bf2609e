// Histories of messages: what is noted, how much is kept, after a restart and after cleaning, on a
// full disk.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "storage/memory_storage.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

using test::OneShard;
using Lines = std::vector<std::string>;

class ShardHistory : public testing::Test {
 protected:
  void open() {
    OneShard::Options options;
    options.mark = [this](std::string_view branch) { left_out_ += branch == "history.left-out"; };
    one_.emplace(disk_.root(), clock_, options);
    ASSERT_FALSE(one_->error());
  }
  void reopen() {
    one_.reset();
    open();
  }
  void configure(const SettingsPatch& patch) {
    ASSERT_TRUE(one_->ask(core::ConfigureRequest{"q", patch}));
  }
  void push(const std::string& key, Due due = Due()) {
    ASSERT_TRUE(one_->ask(test::push("q", key.c_str(), due)));
  }
  std::string claim(const std::string& by = "") {
    auto request = test::claim("q");
    request.by = by;
    const auto reply = one_->ask(request);
    const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
    return receipts.empty() ? "" : receipts.front();
  }
  void settle(const std::string& receipt, core::SettleAction action,
              const std::string& reason = "") {
    auto request = test::settle({receipt}, action, reason);
    if (action == core::SettleAction::retry) request.items[0].delay = Millis(1'000);
    ASSERT_TRUE(one_->ask(std::move(request)));
  }
  /// "claimed 1 +5000 by w": the event, its attempt, when it was and what it says.
  Lines events(const std::string& key) {
    auto request = test::get("q", key);
    request.with_history = true;
    const auto reply = one_->ask(request);
    const auto& item = std::get<core::GetReply>(*reply).items.front();
    if (!item) return {"not found"};
    limit_ = item->history.limit;
    Lines lines;
    for (const MessageEvent& event : item->history.events) {
      std::string& line = lines.emplace_back(to_string(event.kind));
      if (event.attempt != 0) line += ' ' + std::to_string(event.attempt);
      line += " +" + std::to_string(event.at.time_since_epoch().count() - begin_ms_);
      if (event.due) {
        line += " due +" + std::to_string(event.due->time_since_epoch().count() - begin_ms_);
      }
      if (!event.by.empty()) line += " by " + event.by;
      if (!event.reason.empty()) line += ": " + event.reason;
    }
    return lines;
  }

  timing::ManualClock clock_;
  const std::int64_t begin_ms_ = clock_.now().realtime_ms;
  storage::MemoryDisk disk_;
  std::optional<OneShard> one_;
  std::uint32_t limit_ = 0;
  int left_out_ = 0;
};

TEST_F(ShardHistory, TellsALifeAndItsEnd) {
  open();
  configure({.max_attempts = 2, .remember = Millis(60'000), .history = 20});
  push("a", Due::after(Millis(5'000)));
  clock_.advance(1'000);
  ASSERT_TRUE(one_->ask(test::reschedule("q", "a", Due::after(Millis(1'000)))));
  clock_.advance(1'000);
  settle(claim("worker"), core::SettleAction::retry, "no route");
  clock_.advance(1'000);
  settle(claim("worker"), core::SettleAction::release);
  (void)claim();
  clock_.advance(30'000);
  one_->settle();
  ASSERT_TRUE(one_->ask(test::reschedule("q", "a", Due::after(Millis(0)))));
  settle(claim(), core::SettleAction::bury, "broken");
  ASSERT_TRUE(one_->ask(test::reschedule("q", "a", Due::after(Millis(0)))));
  const std::string last = claim("ann");
  ASSERT_TRUE(one_->ask(test::cancel("q", "a")));
  settle(last, core::SettleAction::ack);
  const Lines life{"pushed +0 due +5000",
                   "rescheduled +1000 due +2000",
                   "claimed 1 +2000 by worker",
                   "retried 1 +2000 due +3000: no route",
                   "claimed 2 +3000 by worker",
                   "released 2 +3000",
                   "claimed 2 +3000",
                   "died 2 +33000: lease ran out on attempt 2 of 2",
                   "revived +33000 due +33000",
                   "claimed 1 +33000",
                   "buried 1 +33000: broken",
                   "revived +33000 due +33000",
                   "claimed 1 +33000 by ann",
                   "stopping 1 +33000",
                   "acked 1 +33000"};
  EXPECT_EQ(events("a"), life);
  EXPECT_EQ(limit_, 20u);
  reopen();
  EXPECT_EQ(events("a"), life);
  clock_.advance(60'000);
  one_->settle();
  EXPECT_EQ(events("a"), Lines{"not found"});
  EXPECT_EQ(one_->state().live.total_unwritten(), 0u);
}

TEST_F(ShardHistory, TellsOfLeasesThatRunOutAndOfExpiry) {
  open();
  configure({.remember = Millis(60'000), .expire = Millis(40'000), .history = 3});
  push("a");
  (void)claim();
  clock_.advance(30'000);
  one_->settle();
  clock_.advance(10'000);
  one_->settle();
  EXPECT_EQ(events("a"), (Lines{"claimed 1 +0", "run_out 1 +30000", "expired 1 +40000"}));
}

TEST_F(ShardHistory, KeepsTheLastEventsAndLosesThemWithTheSetting) {
  open();
  EXPECT_FALSE(one_->state().keeps_history());
  push("before");
  EXPECT_EQ(events("before"), Lines{});
  EXPECT_EQ(limit_, 0u);
  configure({.history = 2});
  EXPECT_EQ(events("before"), Lines{});
  push("a", Due::after(Millis(9'000)));
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(one_->ask(test::reschedule("q", "a", Due::after(Millis(i * 1'000)))));
  }
  EXPECT_EQ(events("a"), (Lines{"rescheduled +0 due +2000", "rescheduled +0 due +3000"}));
  configure({.history = 1});
  EXPECT_EQ(events("a"), Lines{"rescheduled +0 due +3000"});
  configure({.history = 100});
  EXPECT_EQ(events("a"), Lines{"rescheduled +0 due +3000"});
  reopen();
  EXPECT_EQ(events("a"), Lines{"rescheduled +0 due +3000"});
  configure({.history = 0});
  EXPECT_FALSE(one_->state().keeps_history());
  EXPECT_EQ(one_->state().live.total_unwritten(), 0u);
  configure({.history = 5});
  EXPECT_EQ(events("a"), Lines{});
  reopen();
  EXPECT_EQ(events("a"), Lines{});
}

TEST_F(ShardHistory, IsLostWithItsMessageOnly) {
  open();
  configure({.if_exists = IfExists::replace, .history = 5});
  push("a", Due::after(Millis(9'000)));
  clock_.advance(1);
  push("a", Due::after(Millis(1'000)));
  EXPECT_EQ(events("a"), Lines{"pushed +1 due +1001"});
  ASSERT_TRUE(one_->ask(core::PurgeRequest{"q"}));
  one_->settle();
  EXPECT_EQ(events("a"), Lines{"not found"});
  EXPECT_EQ(one_->state().live.total_unwritten(), 0u);
}

/// Pushes to another queue until cleaning has copied `key`.
void clean(OneShard& one, Handle handle) {
  const std::uint64_t before = one.state().slab[handle].position.raw();
  for (int i = 0; i < 200 && one.state().slab[handle].position.raw() == before; ++i) {
    const auto name = "other" + std::to_string(i);
    ASSERT_TRUE(one.ask(test::push("other", name.c_str(), Due(), std::string(500, 'p'))));
    ASSERT_TRUE(one.ask(test::cancel("other", name)));
    one.settle();
  }
  ASSERT_NE(one.state().slab[handle].position.raw(), before);
}

TEST_F(ShardHistory, IsCopiedByCleaning) {
  open();
  configure({.remember = Millis(600'000), .history = 5});
  push("never claimed", Due::after(Millis(90'000)));
  ASSERT_TRUE(one_->ask(test::reschedule("q", "never claimed", Due::after(Millis(80'000)))));
  push("a");
  settle(claim("ann"), core::SettleAction::ack);
  const Lines never = events("never claimed");
  const Lines acked = events("a");
  EXPECT_EQ(acked.size(), 3u);
  EXPECT_GT(one_->state().live.total_unwritten(), 0u);
  clock_.advance(5'000);
  clean(*one_, 0);
  clean(*one_, 1);
  EXPECT_EQ(one_->state().live.total_unwritten(), 0u);
  EXPECT_EQ(events("never claimed"), never);
  const std::string before = test::describe(one_->state());
  reopen();
  EXPECT_EQ(test::describe(one_->state()), before);
  EXPECT_EQ(events("never claimed"), never);
  EXPECT_EQ(events("a"), acked);
}

TEST_F(ShardHistory, BeginsWithTheImportOfAMessage) {
  open();
  configure({.history = 5});
  core::MoveRequest move;
  move.queue = "q";
  core::MoveItem item;
  item.push.key = core::append(move.bytes, "a");
  item.push.due = Due::at(Time(Millis(begin_ms_ + 700)));
  item.attempt = 3;
  move.items.push_back(item);
  ASSERT_TRUE(one_->ask(std::move(move)));
  EXPECT_EQ(events("a"), Lines{"imported 3 +0 due +700"});
  reopen();
  EXPECT_EQ(events("a"), Lines{"imported 3 +0 due +700"});
}

TEST_F(ShardHistory, CostsOtherQueuesNothing) {
  open();
  configure({.history = 5});
  ASSERT_TRUE(one_->ask(test::push("plain", "a")));
  ASSERT_TRUE(one_->ask(test::cancel("plain", "a")));
  ASSERT_TRUE(one_->ask(test::push("plain", "b")));
  EXPECT_EQ(one_->state().events(0), nullptr);
  EXPECT_EQ(one_->state().live.total_unwritten(), 0u);
  EXPECT_EQ(one_->state().queue(1).events, nullptr);
}

}  // namespace
}  // namespace tarry::embedded
