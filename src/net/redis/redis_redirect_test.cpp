#include "net/redis/redis_redirect.h"

#include <gtest/gtest.h>

namespace tarry::net {
namespace {

const RedisAddress kAsked{"10.0.0.1", 7000};

TEST(RedisRedirect, TellsSlotAndServer) {
  const auto moved = redis_redirect("MOVED 3999 127.0.0.1:6381", kAsked);
  ASSERT_TRUE(moved);
  EXPECT_FALSE(moved->ask);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->to, (RedisAddress{"127.0.0.1", 6381}));
  // An IPv6 address has no brackets here.
  const auto ask = redis_redirect("ASK 16383 ::1:1", kAsked);
  ASSERT_TRUE(ask);
  EXPECT_TRUE(ask->ask);
  EXPECT_EQ(ask->to, (RedisAddress{"::1", 1}));
}

TEST(RedisRedirect, NoHostIsTheHostThatWasAsked) {
  EXPECT_EQ(redis_redirect("MOVED 1 :6381", kAsked)->to, (RedisAddress{"10.0.0.1", 6381}));
  EXPECT_EQ(redis_redirect("MOVED 1 ?:6381", kAsked)->to, (RedisAddress{"10.0.0.1", 6381}));
}

TEST(RedisRedirect, OtherErrorsAndNonsenseAreNone) {
  for (const char* text :
       {"", "MOVED", "MOVED ", "MOVED 1", "MOVED 1 host", "MOVED 1 host:", "MOVED 1 host:0",
        "MOVED 1 host:65536", "MOVED 16384 host:1", "MOVED -1 host:1", "MOVED x host:1",
        "MOVED host:1", "MOVED 1x host:1", "ASKING 1 host:1", "ERR MOVED 1 host:1"}) {
    EXPECT_FALSE(redis_redirect(text, kAsked)) << text;
  }
}

}  // namespace
}  // namespace tarry::net
