// What the engine's URLs say; nothing listens where they point.
#ifdef TARRY_WITH_RABBITMQ

#include "open/rabbit_url.h"

#include <gtest/gtest.h>

namespace tarry::detail {
namespace {

Error refused(std::string_view scheme, std::string_view rest) {
  auto opened = open_rabbitmq({std::string(scheme), std::string(rest)}, {});
  return opened ? Error{ErrorCode::misuse, "it opens"} : opened.error();
}

TEST(RabbitUrl, NamesWhatIsWrongAndNoPassword) {
  const struct {
    std::string_view scheme;
    std::string_view rest;
    std::string_view says;
  } cases[] = {
      {"amqp", "//u:s3cret@h?rung=0ms", "option rung: \"0ms\" must be from 1ms to 10s"},
      {"amqp", "//u:s3cret@h?rung=11s", "option rung: \"11s\" must be from 1ms to 10s"},
      {"amqp", "//u:s3cret@h?rung=soon", "option rung: "},
      {"amqp", "//u:s3cret@h?queues=mirrored", "auto, quorum or classic"},
      {"amqp", "//u:s3cret@h?max_payload=65MiB", "from 1B to 64MiB"},
      {"amqp", "//u:s3cret@h?rnug=1s", "rung"},
      {"amqp", "//u:s3cret@h?ca=/c", "go with amqps: only"},
      {"amqps", "//u:s3cret@h?cert=/c", "cert and key go together"},
      {"amqp", "u:s3cret@h", "amqp://HOST"},
  };
  for (const auto& one : cases) {
    const Error error = refused(one.scheme, one.rest);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << one.rest;
    EXPECT_NE(error.message.find(one.says), std::string::npos) << one.rest << error.message;
    EXPECT_EQ(error.message.find("s3cret"), std::string::npos) << error.message;
  }
}

}  // namespace
}  // namespace tarry::detail

#endif
