#include "net/redis/protocol/redis_command.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tarry::net {
namespace {

TEST(RedisCommandTest, encodes_its_name_and_its_arguments) {
  EXPECT_EQ(RedisCommand("PING").take(), "*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(std::move(RedisCommand("SET").add("k").add(std::int64_t{-17})).take(),
            "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n-17\r\n");
}

TEST(RedisCommandTest, takes_any_bytes) {
  const std::string bytes("\0\r\n$\xff", 5);
  EXPECT_EQ(std::move(RedisCommand("ECHO").add(bytes)).take(),
            "*2\r\n$4\r\nECHO\r\n$5\r\n" + bytes + "\r\n");
  EXPECT_EQ(std::move(RedisCommand("ECHO").add("")).take(), "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n");
}

TEST(RedisCommandTest, puts_two_pieces_together) {
  EXPECT_EQ(std::move(RedisCommand("GET").add("tarry:", "{3}")).take(),
            "*2\r\n$3\r\nGET\r\n$9\r\ntarry:{3}\r\n");
}

TEST(RedisCommandTest, counts_and_is_named) {
  RedisCommand command("EVALSHA", 100);
  EXPECT_EQ(command.arguments(), 1u);
  command.add(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(command.arguments(), 2u);
  EXPECT_EQ(command.name(), "EVALSHA");
  EXPECT_EQ(std::move(command).take(), "*2\r\n$7\r\nEVALSHA\r\n$20\r\n-9223372036854775808\r\n");
}

TEST(RedisCommandTest, has_more_than_nine_arguments) {
  RedisCommand command("DEL");
  for (int i = 0; i < 12'344; ++i) command.add("k");
  EXPECT_TRUE(std::move(command).take().starts_with("*12345\r\n$3\r\nDEL\r\n$1\r\nk\r\n"));
}

}  // namespace
}  // namespace tarry::net
