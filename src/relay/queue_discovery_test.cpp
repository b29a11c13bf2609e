#include "relay/queue_discovery.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <utility>

#include "support/scripted_engine.h"

namespace tarry::relay {
namespace {

using test::ScriptedEngine;

core::Reply stats_of(const std::vector<std::pair<std::string, std::uint32_t>>& queues) {
  StoreStats stats;
  for (const auto& [name, shards] : queues) {
    QueueStats& queue = stats.queues.emplace_back();
    queue.queue = name;
    queue.shards = shards;
  }
  return core::Reply(std::move(stats));
}

// Collects the discovery's reports, in order; `next` waits for one.
template <typename T>
class Told {
 public:
  void operator()(T what) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(what));
    changed_.notify_all();
  }
  T next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, test::kPatience, [this] { return !all_.empty(); })) {
      ADD_FAILURE() << "nothing was told";
      return {};
    }
    T first = std::move(all_.front());
    all_.pop_front();
    return first;
  }
  [[nodiscard]] bool empty() const {
    const std::lock_guard lock(mutex_);
    return all_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> all_;
};

// A coordination that the test controls.
class ScriptedCoordination final : public Coordination {
 public:
  struct Seen {
    Told<std::vector<Unit>> offers;
    Hooks hooks;
    std::atomic<bool> left = false;
    Millis session{600'000};
  };
  explicit ScriptedCoordination(Seen& seen) : seen_(seen) {}
  void start(Hooks hooks) override { seen_.hooks = std::move(hooks); }
  void offer(std::vector<Unit> all) override { seen_.offers(std::move(all)); }
  void leave() override { seen_.left = true; }
  [[nodiscard]] Millis session() const override { return seen_.session; }
  [[nodiscard]] std::string title() const override { return "the test"; }

 private:
  Seen& seen_;
};

class LookoutTest : public ::testing::Test {
 protected:
  void begin(std::vector<std::string> patterns, bool shares) {
    QueueDiscovery::Hooks hooks;
    hooks.on_shares = [this](const std::vector<Share>& told) { shares_(told); };
    hooks.on_queues = [this](std::size_t count) { queues_(count); };
    hooks.on_view = [this](const Coordination::View& view, std::size_t units) {
      views_(std::pair(view.mine.size(), units));
    };
    hooks.on_trouble = [](const std::optional<Error>&) {};
    hooks.on_closed = [this] { closed_(true); };
    discovery_.emplace(engine_, std::move(patterns),
                       shares ? std::make_unique<ScriptedCoordination>(seen_) : nullptr,
                       std::move(hooks), Millis(1));
    discovery_->start();
  }
  void answer(Result<core::Reply> reply) {
    const auto asked = engine_.next<core::StatsRequest>();
    EXPECT_TRUE(asked.request.names_only);
    engine_.answer(asked.ticket, std::move(reply));
  }

  ScriptedEngine engine_;
  ScriptedCoordination::Seen seen_;
  Told<std::vector<Share>> shares_;
  Told<std::size_t> queues_;
  Told<std::pair<std::size_t, std::size_t>> views_;
  Told<bool> closed_;
  std::optional<QueueDiscovery> discovery_;
};

TEST(FindQueuesTest, NamesAndPatternsByNameAndOnce) {
  const auto there = stats_of({{"orders.us", 4}, {"mail", 1}, {"orders.eu", 2}, {"mails", 3}});
  EXPECT_EQ(
      find_queues({"orders.*", "mails", "orders.eu", "news"}, std::get<StoreStats>(there).queues),
      (std::vector<Found>{{"mails", 3}, {"news", 1}, {"orders.eu", 2}, {"orders.us", 4}}));
}

TEST_F(LookoutTest, TellsWhatMatchesWhenItChanges) {
  begin({"orders.*"}, false);
  answer(stats_of({{"mails", 1}}));
  EXPECT_EQ(queues_.next(), 0u);
  EXPECT_TRUE(shares_.next().empty());
  answer(stats_of({{"mails", 1}, {"orders.eu", 4}}));
  EXPECT_EQ(queues_.next(), 1u);
  EXPECT_EQ(shares_.next(), (std::vector<Share>{{"orders.eu", {}}}));
  // Without a coordination, the number of shards does not matter.
  answer(stats_of({{"orders.eu", 8}}));
  answer(stats_of({{"orders.eu", 8}, {"orders.us", 1}}));
  EXPECT_EQ(shares_.next(), (std::vector<Share>{{"orders.eu", {}}, {"orders.us", {}}}));
  EXPECT_TRUE(queues_.empty());
}

TEST_F(LookoutTest, AStoreThatIsAwayIsAskedAgainAndOneThatIsClosedIsToldOf) {
  begin({"*"}, false);
  answer(Error{ErrorCode::permission_denied, "not you"});
  answer(Error{ErrorCode::unavailable, "away"});
  answer(stats_of({{"a", 1}}));
  EXPECT_EQ(shares_.next(), (std::vector<Share>{{"a", {}}}));
  answer(Error{ErrorCode::unavailable, "away"});
  // A further request shows that the answer has been taken.
  (void)engine_.next<core::StatsRequest>();
  EXPECT_EQ(discovery_->last_error(), "the queues cannot be looked up: away");
  EXPECT_TRUE(shares_.empty());  // the queues found before are still served
}

TEST_F(LookoutTest, OfAClosedStoreItTells) {
  begin({"*"}, false);
  answer(Error{ErrorCode::closed, "closed"});
  EXPECT_TRUE(closed_.next());
}

TEST_F(LookoutTest, EndsWhileALookGoesOn) {
  begin({"*"}, false);
  (void)engine_.next<core::StatsRequest>();
  discovery_.reset();
}

TEST_F(LookoutTest, WhatIsSharedIsOfferedAndOnlyWhatFallsToItIsServed) {
  begin({"a", "b"}, true);
  answer(stats_of({{"a", 2}}));
  EXPECT_EQ(seen_.offers.next(), (std::vector<Unit>{{"a", 0}, {"a", 1}, {"b", 0}}));
  seen_.hooks.on_change({{{"a", 1}}, 2});
  EXPECT_EQ(shares_.next(), (std::vector<Share>{{"a", {1}}}));
  EXPECT_EQ(views_.next(), std::pair(std::size_t{1}, std::size_t{3}));
  seen_.hooks.on_change({{{"a", 0}, {"a", 1}, {"b", 0}}, 1});
  EXPECT_EQ(shares_.next(), (std::vector<Share>{{"a", {}}, {"b", {}}}));
  // Shards that no longer exist do not count.
  answer(stats_of({{"a", 1}, {"b", 1}}));
  EXPECT_EQ(seen_.offers.next(), (std::vector<Unit>{{"a", 0}, {"b", 0}}));
  seen_.hooks.on_change({{{"a", 1}, {"b", 0}}, 2});
  EXPECT_EQ(shares_.next(), (std::vector<Share>{{"b", {}}}));
  discovery_->leave();
  EXPECT_TRUE(seen_.left);
}

TEST_F(LookoutTest, WhoHearsNothingOfTheOthersForASessionServesAllUntilItDoes) {
  seen_.session = Millis(0);
  begin({"a"}, true);
  answer(stats_of({{"a", 2}}));
  EXPECT_EQ(shares_.next(), (std::vector<Share>{{"a", {}}}));
  seen_.hooks.on_change({{{"a", 1}}, 2});
  EXPECT_EQ(shares_.next(), (std::vector<Share>{{"a", {1}}}));
}

TEST(UnitTest, IsSpelledAndRead) {
  Unit unit;
  EXPECT_TRUE(read_unit(spell_unit({"a/b", 12}), unit));
  EXPECT_EQ(unit, (Unit{"a/b", 12}));
  for (const char* text : {"", "a", "/1", "a/", "a/x", "a/-1", "a/99999999999"}) {
    EXPECT_FALSE(read_unit(text, unit)) << text;
  }
}

}  // namespace
}  // namespace tarry::relay
