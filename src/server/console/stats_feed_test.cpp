#include "server/console/stats_feed.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/scripted_engine.h"

namespace tarry::console {
namespace {

struct Queues {
  std::string name;
  std::uint64_t scheduled;
};

core::Reply stats_of(const std::vector<Queues>& queues) {
  StoreStats stats;
  for (const auto& [name, scheduled] : queues) {
    QueueStats& queue = stats.queues.emplace_back();
    queue.queue = name;
    queue.scheduled = scheduled;
  }
  return stats;
}

identity::Identity reader_of(std::string queues) {
  identity::Scopes scopes;
  scopes.add(identity::Scope::read);
  return {"ann", scopes, {std::move(queues)}, {}, identity::digest_of("s")};
}

class StatsFeedTest : public testing::Test {
 protected:
  std::unique_ptr<StatsFeed::Seat> look(StatsFeed::Told told) {
    return feed_->take_seat(loop_.get_executor(), std::move(told));
  }

  // Answers the request that the feed has made, or makes within a second.
  void answer(Result<core::Reply> reply) {
    loop_.restart();
    loop_.poll();
    const std::size_t before = told_;
    while (engine_.untaken() == 0 && loop_.run_one() > 0) {
    }
    engine_.answer(engine_.next<core::StatsRequest>().ticket, std::move(reply));
    while (told_ == before && loop_.run_one() > 0) {
    }
  }

  boost::asio::io_context loop_;
  test::ScriptedEngine engine_;  // its thread posts to the loop, and so ends before it
  std::shared_ptr<StatsFeed> feed_ = std::make_shared<StatsFeed>(engine_, StatsFeed::Completes());
  std::size_t told_ = 0;
  StatsFeed::Told count_ = [this] { ++told_; };
  const identity::Identity all_ = reader_of("*");
};

TEST_F(StatsFeedTest, asks_once_for_all_who_look_and_not_at_all_if_nobody_does) {
  EXPECT_EQ(engine_.untaken(), 0u);
  auto first = look(count_);
  auto second = look(count_);
  EXPECT_EQ(engine_.untaken(), 1u);
  answer(stats_of({{"a", 1}}));
  EXPECT_EQ(told_, 2u);
  EXPECT_NE(feed_->store(), nullptr);
  first.reset();
  second.reset();
  EXPECT_EQ(feed_->store(), nullptr);
  loop_.restart();
  loop_.run();  // ends: the timer has ended, too
  EXPECT_EQ(engine_.untaken(), 0u);
}

TEST_F(StatsFeedTest, a_new_look_during_a_request_waits_for_its_answer) {
  look(count_).reset();
  const auto seat = look(count_);
  EXPECT_EQ(engine_.untaken(), 1u);
  answer(stats_of({}));
  EXPECT_EQ(told_, 1u);
}

TEST_F(StatsFeedTest, tells_what_has_changed_and_all_of_it_once_a_queue_has_gone) {
  const auto seat = look(count_);
  std::uint64_t seen = 0;
  answer(stats_of({{"a", 1}, {"b", 2}}));
  const auto changes = [&] { return boost::json::parse("{" + feed_->changes(all_, seen) + "}"); };
  const auto names = [](const auto& told) {
    std::vector<std::string> all;
    for (const auto& one : told.at("queues").as_array()) {
      all.emplace_back(one.at("queue").as_string());
    }
    return all;
  };
  auto told = changes();
  EXPECT_TRUE(told.at("full").as_bool());
  EXPECT_EQ(names(told), (std::vector<std::string>{"a", "b"}));
  answer(stats_of({{"a", 1}, {"b", 3}}));
  told = changes();
  EXPECT_FALSE(told.at("full").as_bool());
  EXPECT_EQ(names(told), std::vector<std::string>{"b"});
  answer(stats_of({{"b", 3}}));
  told = changes();
  EXPECT_TRUE(told.at("full").as_bool());
  EXPECT_EQ(names(told), std::vector<std::string>{"b"});
}

TEST_F(StatsFeedTest, shows_nobody_a_queue_that_they_may_not_read) {
  const auto seat = look(count_);
  answer(stats_of({{"mails", 1}, {"orders.eu", 2}}));
  std::uint64_t seen = 0;
  const std::string text = feed_->changes(reader_of("orders.*"), seen);
  EXPECT_NE(text.find("orders.eu"), std::string::npos) << text;
  EXPECT_EQ(text.find("mails"), std::string::npos) << text;
}

TEST_F(StatsFeedTest, says_why_there_are_no_figures_and_goes_on) {
  const auto seat = look(count_);
  answer(Error{ErrorCode::unavailable, "Redis is away"});
  ASSERT_NE(feed_->trouble(), nullptr);
  EXPECT_EQ(feed_->trouble()->message, "Redis is away");
  EXPECT_EQ(feed_->store(), nullptr);
  answer(stats_of({}));
  EXPECT_EQ(feed_->trouble(), nullptr);
  EXPECT_NE(feed_->store(), nullptr);
}

TEST_F(StatsFeedTest, one_who_is_told_may_leave) {
  std::unique_ptr<StatsFeed::Seat> first;
  first = look([&] {
    ++told_;
    first.reset();
  });
  const auto second = look(count_);
  answer(stats_of({}));
  EXPECT_EQ(told_, 2u);
}

}  // namespace
}  // namespace tarry::console
