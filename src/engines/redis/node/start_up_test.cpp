#include "engines/redis/node/start_up.h"

#include <gtest/gtest.h>

namespace tarry::redis {
namespace {

std::string info(std::string_view version, std::string_view mode = "standalone",
                 std::string_view policy = "noeviction", std::string_view aof = "1") {
  return "# Server\r\nredis_version:" + std::string(version) +
         "\r\nredis_mode:" + std::string(mode) +
         "\r\n# Memory\r\nmaxmemory_policy:" + std::string(policy) +
         "\r\n# Persistence\r\naof_enabled:" + std::string(aof) + "\r\n";
}

void expect_refused(const std::string& text, ErrorCode code, std::string_view names) {
  const auto facts = check_server(text, "h:1", {});
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, code);
  EXPECT_NE(facts.error().message.find(names), std::string::npos) << facts.error().message;
  EXPECT_NE(facts.error().message.find("h:1"), std::string::npos) << facts.error().message;
}

TEST(CheckServer, TakesWhatIsNewEnough) {
  for (const std::string_view version : {"6.2.0", "6.10.1", "7.0.15", "8.0", "255.255.255"}) {
    const auto facts = check_server(info(version), "h:1", {});
    ASSERT_TRUE(facts) << version;
    EXPECT_TRUE(facts->warning.empty());
  }
}

TEST(CheckServer, RefusesWhatIsTooOldOrHasNoVersion) {
  for (const std::string_view version : {"6.0.16", "5.0.7", "2.8", ""}) {
    expect_refused(info(version), ErrorCode::unsupported, "6.2");
  }
  expect_refused("", ErrorCode::unsupported, "6.2");
}

TEST(CheckServer, RefusesWhatIsNoServerOfItsOwn) {
  expect_refused(info("7.0.0", "cluster"), ErrorCode::invalid_argument, "redis+cluster:");
  expect_refused(info("7.0.0", "sentinel"), ErrorCode::invalid_argument, "redis+sentinel:");
}

TEST(CheckServer, ChannelsAreShardedWhereAClusterCan) {
  const auto channels = [](std::string_view version, bool cluster) {
    return check_server(info(version, cluster ? "cluster" : "standalone"), "h:1",
                        {.cluster = cluster})
        ->channels;
  };
  EXPECT_EQ(channels("7.0.15", true), net::RedisChannels::sharded);
  EXPECT_EQ(channels("6.2.0", true), net::RedisChannels::plain);
  EXPECT_EQ(channels("7.0.15", false), net::RedisChannels::plain);
}

TEST(CheckServer, RefusesEvictionUnlessToldOtherwise) {
  const std::string evicts = info("7.0.0", "standalone", "allkeys-lru");
  expect_refused(evicts, ErrorCode::invalid_argument, "allkeys-lru");
  EXPECT_TRUE(check_server(evicts, "h:1", {.allow_eviction = true}));
}

TEST(CheckServer, WarnsWhereNothingIsKept) {
  const auto facts = check_server(info("7.0.0", "standalone", "noeviction", "0"), "h:1", {});
  ASSERT_TRUE(facts);
  EXPECT_NE(facts->warning.find("appendonly"), std::string::npos);
}

}  // namespace
}  // namespace tarry::redis
