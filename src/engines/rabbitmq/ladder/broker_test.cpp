#include "engines/rabbitmq/ladder/broker.h"

#include <gtest/gtest.h>

namespace tarry::rabbitmq {
namespace {

TEST(Broker, keeps_quorum_queues_from_3_10_on) {
  for (const char* version : {"3.10.8", "3.13.0", "4.0.1", "4.3.0-rc.1"}) {
    const auto broker = broker_of(version, Queues::automatic);
    ASSERT_TRUE(broker) << version;
    EXPECT_TRUE(broker->quorum) << version;
  }
  const auto chosen = broker_of("4.0.1", Queues::classic);
  ASSERT_TRUE(chosen);
  EXPECT_FALSE(chosen->quorum);
}

TEST(Broker, keeps_classic_queues_before) {
  for (const char* version : {"3.8.0", "3.9.29"}) {
    const auto broker = broker_of(version, Queues::automatic);
    ASSERT_TRUE(broker) << version;
    EXPECT_FALSE(broker->quorum) << version;
    const auto refused = broker_of(version, Queues::quorum);
    ASSERT_FALSE(refused) << version;
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  }
}

TEST(Broker, is_refused_below_3_8_and_where_it_names_no_version) {
  const auto old = broker_of("3.7.28", Queues::automatic);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ErrorCode::unsupported);
  EXPECT_EQ(old.error().message, "the broker is RabbitMQ 3.7.28; a store needs 3.8 or later");
  for (const char* none : {"", "rabbit", "3", "3.x"}) {
    const auto refused = broker_of(none, Queues::automatic);
    ASSERT_FALSE(refused) << none;
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << none;
  }
}

}  // namespace
}  // namespace tarry::rabbitmq
