// tarry::open with the openers that a program has, and its errors.
#include <gtest/gtest.h>
#include <tarry/store.h>

#include <memory>
#include <string>

#include "open/open_with.h"
#include "support/scripted_engine.h"

namespace tarry {
namespace {

TEST(OpenWith, HttpGoesToTheOpenerItIsGiven) {
  static detail::RemoteUrl asked;
  detail::Openers openers{};
  openers.remote = [](const detail::RemoteUrl& url) -> detail::EngineResult {
    asked = url;
    return std::unique_ptr<core::Engine>(std::make_unique<test::ScriptedEngine>());
  };
  EXPECT_TRUE(detail::open_with("http://example.org:81", {}, &openers));
  EXPECT_EQ(asked.host, "example.org");
  EXPECT_EQ(asked.port, 81);

  const auto clocked = detail::open_with("http://h", {.clock = ManualClock()}, &openers);
  ASSERT_FALSE(clocked);
  EXPECT_EQ(clocked.error().code, ErrorCode::invalid_argument);
}

TEST(OpenWith, RedisGoesToTheOpenerItIsGivenAndMayHaveAClock) {
  static detail::RedisUrl asked;
  static bool clocked;
  detail::Openers openers{};
  openers.redis = [](const detail::RedisUrl& url, const OpenOptions& options) {
    asked = url;
    clocked = options.clock.has_value();
    return detail::EngineResult(std::make_unique<test::ScriptedEngine>());
  };
  EXPECT_TRUE(detail::open_with("redis://h:81/3", {.clock = ManualClock()}, &openers));
  EXPECT_EQ(asked.hosts.at(0).host, "h");
  EXPECT_EQ(asked.hosts.at(0).port, 81);
  EXPECT_EQ(asked.database, 3u);
  EXPECT_TRUE(clocked);
}

TEST(OpenWith, WhatIsNotBuiltInIsUnsupported) {
  for (const std::string scheme : {"http", "redis", "rediss"}) {
    const auto store = detail::open_with(scheme + "://127.0.0.1:7733", {}, nullptr);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::unsupported);
    EXPECT_EQ(store.error().message.find(scheme + ":"), 0u) << store.error().message;
    EXPECT_NE(store.error().message.find("tarry::tarry"), std::string::npos);
  }
}

TEST(OpenWith, AnOpenersErrorIsOpens) {
  detail::Openers openers{};
  openers.remote = [](const detail::RemoteUrl&) -> detail::EngineResult {
    return Unexpected(ErrorCode::unavailable, "nobody answers at h");
  };
  const auto store = detail::open_with("http://h", {}, &openers);
  EXPECT_EQ(store.error(), (Error{ErrorCode::unavailable, "nobody answers at h"}));
}

TEST(OpenWith, ABadUrlOpensNothing) {
  for (const std::string_view url : {"", "redis://h/x", "memory:?x=y", "file:", "http://h:0"}) {
    EXPECT_FALSE(tarry::open(url)) << url;
  }
}

// -- redis+sentinel:

TEST(OpenSentinel, WhatCannotBeOpenedIsOneClearLine) {
  const auto refused = [](const std::string& url) {
    const auto store = open(url);
    EXPECT_FALSE(store) << url;
    return store ? Error{} : store.error();
  };
  const Error file =
      refused("redis+sentinel://127.0.0.1:1?master=orders&sentinel_password_file=/no/such/file");
  EXPECT_EQ(file.code, ErrorCode::invalid_argument);
  EXPECT_EQ(file.message,
            "sentinel_password_file \"/no/such/file\" cannot be read: No such file or directory");
  const Error nobody = refused("redis+sentinel://127.0.0.1:1,127.0.0.1:2/3?master=orders");
  EXPECT_EQ(nobody.code, ErrorCode::unavailable);
  EXPECT_EQ(
      nobody.message,
      "no sentinel of master \"orders\" answers (127.0.0.1:1, 127.0.0.1:2): cannot connect to "
      "the sentinel at 127.0.0.1:2: Connection refused");
}

}  // namespace
}  // namespace tarry
