// When a message was pushed, as Redis keeps it: by Redis's own clock, and only in a store of which
// all users can read it.
#include <gtest/gtest.h>

#include "support/engine_calls.h"
#include "support/inbox_rig.h"

namespace tarry::redis {
namespace {

using tarry::testing::InboxRig;

class RedisPushTime : public ::testing::Test, protected InboxRig, protected test::EngineCalls {
 protected:
  /// The minute in which a moment of Redis's clock lies.
  static Time minute_of(std::int64_t ms) { return Time(Millis(ms / 60'000 * 60'000)); }
  Time this_minute() {
    const std::string ms =
        InboxRig::ask({"EVAL", "return string.format('%.0f', redis.call('TIME')[1] * 1000)", "0"});
    return minute_of(std::stoll(ms));
  }
  static void push(core::Engine& engine, std::string_view key) {
    core::PushRequest request = push_of("q", Millis(3'600'000));
    request.items[0].key = core::append(request.bytes, key);
    (void)take<core::PushReply>(engine, std::move(request));
  }
  static std::optional<Time> told(core::Engine& engine, std::string_view key) {
    return get(engine, "q", key).value().pushed;
  }
};

TEST_F(RedisPushTime, IsOfRedisesClock) {
  const auto engine = open();
  EXPECT_TRUE(engine->capabilities().push_times);
  const Time before = this_minute();
  push(*engine, "k");
  const Time after = this_minute();
  ASSERT_TRUE(told(*engine, "k"));
  EXPECT_GE(*told(*engine, "k"), before);
  EXPECT_LE(*told(*engine, "k"), after);
}

TEST_F(RedisPushTime, OfAnEntryOfTheInboxIsItsOwn) {
  const auto engine = open();
  const std::string id = add({"queue", "q", "key", "k", "payload", "x", "delay", "1h"});
  wait_until_drained();
  EXPECT_EQ(told(*engine, "k"), minute_of(std::stoll(id)));
}

// An older program would take these bytes for a part of the payload.
TEST_F(RedisPushTime, IsNotKeptInAStoreOfAnOlderSchema) {
  push(*open(), "newer");
  for (const char* schema : {"2", "1"}) {
    ASSERT_EQ(InboxRig::ask({"HSET", "tarry:{0}:store", "schema", schema}), ":0\r\n");
    const auto engine = open();
    EXPECT_FALSE(engine->capabilities().push_times);
    push(*engine, schema);
    EXPECT_FALSE(told(*engine, schema));
    EXPECT_TRUE(told(*engine, "newer")) << "what is there is read";
    add({"queue", "q", "key", std::string("in ") + schema, "payload", "x"});
    wait_until_drained();
    EXPECT_FALSE(told(*engine, std::string("in ") + schema));
  }
  ASSERT_EQ(InboxRig::ask({"HSET", "tarry:{0}:store", "schema", "3"}), ":0\r\n");
  const auto engine = open();
  push(*engine, "upgraded");
  EXPECT_TRUE(told(*engine, "upgraded"));
  EXPECT_FALSE(told(*engine, "2")) << "what nobody knew stays unknown";
}

}  // namespace
}  // namespace tarry::redis
