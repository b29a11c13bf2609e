#include "server/limits/accounts.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tarry::limits {
namespace {

using Clock = Accounts::Clock;
using std::chrono::milliseconds;

class AccountsTest : public ::testing::Test {
 protected:
  Accounts accounts_;
  Clock::time_point now_ = Clock::time_point(std::chrono::hours(5));
};

TEST_F(AccountsTest, users_of_a_name_share_its_account) {
  auto one = accounts_.use("10.0.0.7", now_);
  auto two = accounts_.use("10.0.0.7", now_);
  auto other = accounts_.use("10.0.0.8", now_);
  EXPECT_EQ(one.get(), two.get());
  EXPECT_NE(one.get(), other.get());
  EXPECT_EQ(one->name, "10.0.0.7");
  EXPECT_EQ(accounts_.size(), 2u);
}

TEST_F(AccountsTest, an_account_that_made_no_request_goes_with_its_last_user) {
  auto one = accounts_.use("10.0.0.7", now_);
  auto two = accounts_.use("10.0.0.7", now_);
  two->connections = 7;
  one = {};
  EXPECT_EQ(accounts_.size(), 1u);
  auto moved = std::move(two);
  two = {};
  EXPECT_EQ(moved->connections, 7u);
  moved = {};
  EXPECT_EQ(accounts_.size(), 0u);
}

TEST_F(AccountsTest, a_new_connection_is_no_new_bucket) {
  accounts_.use("10.0.0.7", now_)->requests.take(now_, 1);
  EXPECT_EQ(accounts_.size(), 1u);
  now_ += milliseconds(400);
  EXPECT_EQ(accounts_.use("10.0.0.7", now_)->requests.wait(now_, 1), milliseconds(600));
  EXPECT_EQ(accounts_.size(), 1u);
}

TEST_F(AccountsTest, an_account_is_forgotten_when_its_bucket_is_full) {
  for (int i = 0; i < 20; ++i) accounts_.use(std::to_string(i), now_)->requests.take(now_, 1);
  EXPECT_EQ(accounts_.size(), 20u);
  now_ += milliseconds(999);
  EXPECT_TRUE(accounts_.use("another", now_));
  EXPECT_EQ(accounts_.size(), 20u);
  now_ += milliseconds(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(accounts_.use("another", now_));
  EXPECT_EQ(accounts_.size(), 0u);
}

TEST_F(AccountsTest, an_account_with_a_user_stays) {
  const auto stays = accounts_.use("stays", now_);
  stays->requests.take(now_, 1);
  now_ += std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(accounts_.use("another", now_));
  EXPECT_EQ(accounts_.size(), 1u);
  EXPECT_EQ(accounts_.use("stays", now_).get(), stays.get());
}

TEST_F(AccountsTest, millions_of_addresses_do_not_fill_the_memory) {
  for (std::size_t i = 0; i < Accounts::kMostResting + 10'000; ++i) {
    accounts_.use(std::to_string(i), now_)->requests.take(now_, 1);
  }
  EXPECT_EQ(accounts_.size(), Accounts::kMostResting);
  // The latest is still known, the first is not.
  const auto latest = std::to_string(Accounts::kMostResting + 9'999);
  EXPECT_GT(accounts_.use(latest, now_)->requests.wait(now_, 1), Clock::duration::zero());
  EXPECT_TRUE(accounts_.use("0", now_)->requests.is_unused());
  // With a pause they go by themselves.
  now_ += milliseconds(1'000);
  for (std::size_t i = 0; i < Accounts::kMostResting / 8 + 1; ++i) {
    EXPECT_TRUE(accounts_.use("another", now_));
  }
  EXPECT_EQ(accounts_.size(), 0u);
}

}  // namespace
}  // namespace tarry::limits
