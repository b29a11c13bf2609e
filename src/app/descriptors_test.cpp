#include "app/descriptors.h"

#include <sys/resource.h>

#include <gtest/gtest.h>

namespace tarry::app {
namespace {

constexpr std::uint64_t kUnlimited = RLIM_INFINITY;

TEST(Descriptors, TheStoreKeepsHalfOfThem) {
  EXPECT_EQ(connections_within(1'000, 10'000), 400u);
  EXPECT_EQ(connections_within(20'000, 10'000), 8'000u);
  EXPECT_EQ(connections_within(1'000'000, 10'000), 10'000u);
  EXPECT_EQ(connections_within(kUnlimited, 10'000), 10'000u);
  EXPECT_EQ(connections_within(1'000, 7), 7u);
}

TEST(Descriptors, OfFewTheStoreKeepsMost) {
  EXPECT_EQ(connections_within(100, 10'000), 28u);
  EXPECT_EQ(connections_within(64, 10'000), 1u);
  EXPECT_EQ(connections_within(0, 10'000), 1u);
}

TEST(Descriptors, TheSoftLimitIsRaisedToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_GT(before.rlim_max, 100u);
  rlimit low = before;
  low.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_descriptor_limit(), before.rlim_max);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace tarry::app
