// The Kafka sink against librdkafka's mock cluster, which speaks Kafka's protocol over sockets.
#ifdef TARRY_WITH_KAFKA

#include "relay/sinks/kafka/kafka_sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "support/kafka_cluster.h"
#include "support/outgoing.h"

namespace tarry::relay {
namespace {

using test::Answers;
using test::fate_of_one;
using testing::KafkaCluster;
using testing::KafkaConsumer;

constexpr std::chrono::seconds kPatience{30};
// Numbers of requests in Kafka's protocol.
constexpr std::int16_t kProduce = 0;
constexpr std::int16_t kInitProducerId = 22;

KafkaOptions options_for(const KafkaCluster& cluster) { return {cluster.brokers(), "due", {}}; }

std::unique_ptr<Sink> sink_of(const KafkaOptions& options) {
  auto sink = kafka_sink(options);
  EXPECT_TRUE(sink) << sink.error().message;
  return *std::move(sink);
}

std::string told(Answers& answers, const std::string& key) {
  const Answer answer = answers.of(key);
  return std::string(to_string(answer.fate)) + ": " + answer.reason;
}

// Lets the brokers answer one such request with this error, and returns the sink's answer for the
// message. The next message must be confirmed.
std::string told_of_an_error_that_passes(KafkaCluster& cluster, std::int16_t request,
                                         rd_kafka_resp_err_t error) {
  rd_kafka_mock_push_request_errors(cluster.mock(), request, 1, error);
  const auto sink = sink_of(options_for(cluster));
  Answers answers;
  sink->send(answers.batch({"a"}));
  const std::string said = told(answers, "a");
  Answers after;
  sink->send(after.batch({"b"}));
  EXPECT_EQ(told(after, "b"), "confirmed: ");
  return said;
}

TEST(KafkaSink, WhatIsTooLateIsNotSent) {
  KafkaCluster cluster(1);
  const auto sink = sink_of(options_for(cluster));
  Answers late;
  Answers answers;
  sink->send(late.late_parcels({"a"}));
  sink->send(answers.batch({"b"}));
  EXPECT_EQ(answers.fate("b"), Fate::confirmed);
  EXPECT_EQ(late.fate("a"), Fate::late);
  KafkaConsumer consumer(cluster.brokers(), "due");
  const auto record = consumer.next(kPatience);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->key, "b");
}

TEST(KafkaSink, WhatLibrdkafkaHasNotSentIsTakenBackOnceItsLeaseHasEnded) {
  KafkaCluster cluster(1);
  KafkaOptions options = options_for(cluster);
  options.settings = {{"linger.ms", "20000", "f:1"}, {"message.max.bytes", "1000", "f:2"}};
  const auto sink = sink_of(options);
  Answers answers;
  auto batch = answers.batch({"a", "b"}, {}, {"small", std::string(2'000, 'x')});
  const auto lease = std::make_shared<LeaseEnd>(Moment::max());
  batch[0].lease = lease;
  sink->send(std::move(batch));
  EXPECT_EQ(answers.fate("b"), Fate::refused);  // by now librdkafka has "a"
  lease->lose();
  EXPECT_EQ(answers.fate("a"), Fate::late);
}

TEST(KafkaSink, ARecordHasKeyHeadersAndThePartitionOfItsKey) {
  KafkaCluster cluster(1);
  const auto sink = sink_of(options_for(cluster));
  Answers first;
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  sink->send(first.batch({"a", "b", "c", "d"}, {{"traceparent", parent}, {"tarry-id", "forged"}}));
  Answers second;
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_EQ(first.fate(key), Fate::confirmed);
  sink->send(second.batch({"a", "b", "c", "d"}));
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_EQ(second.fate(key), Fate::confirmed);

  KafkaConsumer consumer(cluster.brokers(), "due");
  std::map<std::string, std::set<std::int32_t>> partitions;
  std::set<std::int32_t> all;
  std::multiset<std::string> parents;
  for (int i = 0; i < 8; ++i) {
    const auto record = consumer.next(kPatience);
    ASSERT_NE(record, nullptr) << i;
    partitions[record->key].insert(record->partition);
    all.insert(record->partition);
    EXPECT_EQ(record->value, "payload-" + record->key);
    EXPECT_EQ(record->headers["tarry-id"], std::to_string(record->key[0] - 'a' + 1));
    EXPECT_EQ(record->headers["tarry-queue"], "q");
    EXPECT_EQ(record->headers["tarry-attempt"], "1");
    EXPECT_EQ(record->headers["tarry-due-ms"], "1600000000000");
    parents.insert(record->headers["traceparent"]);
  }
  EXPECT_EQ(parents, (std::multiset<std::string>{"", "", "", "", parent, parent, parent, parent}));
  for (const auto& [key, where] : partitions) EXPECT_EQ(where.size(), 1u) << key;
  EXPECT_GT(all.size(), 1u);
}

TEST(KafkaSink, NobodyThereIsDown) {
  const std::string gone = [] { return KafkaCluster(1).brokers(); }();
  const auto sink = sink_of({gone, "due", {}});
  Answers answers;
  sink->send(answers.batch({"a"}));
  const std::string said = told(answers, "a");
  EXPECT_TRUE(said.starts_with("down: kafka: ")) << said;
  EXPECT_NE(said.find("Connect to"), std::string::npos) << said;
}

TEST(KafkaSink, BrokersThatGoAndComeBack) {
  KafkaCluster cluster(2);
  const auto sink = sink_of(options_for(cluster));
  EXPECT_EQ(fate_of_one(*sink, "a"), Fate::confirmed);
  cluster.down();
  Answers meanwhile;
  sink->send(meanwhile.batch({"b"}));
  const Fate fate = meanwhile.fate("b");
  EXPECT_TRUE(fate == Fate::down || fate == Fate::unknown) << to_string(fate);
  cluster.up();
  EXPECT_EQ(fate_of_one(*sink, "c"), Fate::confirmed);
}

TEST(KafkaSink, AConnectionThatBreaksIsNoFailure) {
  KafkaCluster cluster(1);
  const auto sink = sink_of(options_for(cluster));
  EXPECT_EQ(fate_of_one(*sink, "a"), Fate::confirmed);
  // The producer sends the message again, with the same sequence number.
  rd_kafka_mock_push_request_errors(cluster.mock(), kProduce, 1, RD_KAFKA_RESP_ERR__TRANSPORT);
  Answers again;
  sink->send(again.batch({"b"}));
  EXPECT_EQ(told(again, "b"), "confirmed: ");
}

TEST(KafkaSink, ATopicThatIsNotThereIsDown) {
  KafkaCluster cluster(1);
  rd_kafka_mock_topic_set_error(cluster.mock(), "due", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  KafkaOptions options = options_for(cluster);
  options.settings = {{"topic.metadata.propagation.max.ms", "100", "f:1"},
                      {"topic.metadata.refresh.fast.interval.ms", "50", "f:2"}};
  const auto sink = sink_of(options);
  Answers answers;
  sink->send(answers.batch({"a"}));
  const std::string said = told(answers, "a");
  EXPECT_TRUE(said.starts_with("down: kafka: topic \"due\": ")) << said;
  EXPECT_NE(said.find("nknown topic"), std::string::npos) << said;
  // The topic is created.
  rd_kafka_mock_topic_set_error(cluster.mock(), "due", RD_KAFKA_RESP_ERR_NO_ERROR);
  Answers after;
  sink->send(after.batch({"b"}));
  EXPECT_EQ(told(after, "b"), "confirmed: ");
}

TEST(KafkaSink, WhoMayNotWriteIsDown) {
  KafkaCluster cluster(1);
  const std::string said =
      told_of_an_error_that_passes(cluster, kProduce, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  EXPECT_EQ(said, "down: kafka: topic \"due\": Broker: Topic authorization failed");
}

TEST(KafkaSink, TooLargeIsRefused) {
  KafkaCluster cluster(1);
  KafkaOptions options = options_for(cluster);
  options.settings = {{"message.max.bytes", "1000", "f:1"}};
  const auto sink = sink_of(options);
  Answers answers;
  sink->send(answers.batch({"a", "b"}, {{"big", std::string(2'000, 'x')}}));
  EXPECT_TRUE(told(answers, "a").starts_with("refused: kafka: topic \"due\": "));
  EXPECT_EQ(answers.fate("b"), Fate::refused);
}

// An error for a batch says nothing about a message, unless the message was alone in it.
TEST(KafkaSink, ABatchThatIsTooLargeCondemnsNobody) {
  KafkaCluster cluster(1);
  // One partition, so that all messages are in one batch.
  rd_kafka_mock_topic_create(cluster.mock(), "due", 1, 1);
  KafkaOptions options = options_for(cluster);
  options.settings = {{"linger.ms", "200", "f:1"}};
  const auto sink = sink_of(options);
  // The first error is for the batch, the second for the first message that is sent alone.
  rd_kafka_mock_push_request_errors(cluster.mock(), kProduce, 2,
                                    RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
                                    RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  Answers answers;
  sink->send(answers.batch({"a", "b", "c"}));
  EXPECT_EQ(answers.fate("a"), Fate::refused);
  EXPECT_EQ(answers.fate("b"), Fate::confirmed);
  EXPECT_EQ(answers.fate("c"), Fate::confirmed);
}

TEST(KafkaSink, ABrokenIdempotenceIsMendedByANewProducer) {
  KafkaCluster cluster(1);
  const std::string said = told_of_an_error_that_passes(
      cluster, kInitProducerId, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED);
  EXPECT_TRUE(said.starts_with("down: kafka: ")) << said;
  EXPECT_NE(said.find("uthoriz"), std::string::npos) << said;
}

TEST(KafkaSink, CloseAnswersWhatIsOpen) {
  KafkaCluster cluster(1);
  const auto sink = sink_of(options_for(cluster));
  EXPECT_EQ(fate_of_one(*sink, "a"), Fate::confirmed);
  // The broker takes an hour to answer.
  rd_kafka_mock_broker_set_rtt(cluster.mock(), 1, 3'600'000);
  Answers meanwhile;
  sink->send(meanwhile.batch({"b", "c"}));
  sink->close();
  EXPECT_NE(meanwhile.fate("b"), Fate::confirmed);
  EXPECT_NE(meanwhile.fate("c"), Fate::confirmed);
  Answers after;
  sink->send(after.batch({"d"}));
  EXPECT_EQ(told(after, "d"), "down: the relay has stopped");
}

TEST(KafkaSink, DestroyedWithMessagesInFlightItAnswersThem) {
  KafkaCluster cluster(1);
  Answers answers;
  std::vector<std::string> keys;
  for (int i = 0; i < 500; ++i) keys.push_back(std::to_string(i));
  {
    const auto sink = sink_of(options_for(cluster));
    sink->send(answers.batch(keys));
  }
  for (const std::string& key : keys) static_cast<void>(answers.fate(key));
}

TEST(KafkaSettings, BadOnesNameFileAndLine) {
  std::string path = (std::filesystem::temp_directory_path() / "tarry-kafka-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  ASSERT_GE(file, 0);
  ::close(file);
  const auto error = [&path](const std::string& text) -> std::string {
    std::ofstream(path) << text;
    auto settings = read_kafka_settings(path);
    if (!settings) return settings.error().message;
    const auto sink = kafka_sink({"127.0.0.1:1", "due", *settings});
    return sink ? "" : sink.error().message;
  };
  EXPECT_EQ(error("# all well\n\n linger.ms = 20 \r\ncompression.type=zstd\n"), "");
  EXPECT_EQ(error("\nlinger.mss=20\n"),
            "config " + path + ":2: No such configuration property: \"linger.mss\"");
  EXPECT_TRUE(error("linger.ms=soon\n").starts_with("config " + path + ":1: Invalid value"));
  EXPECT_EQ(error("linger.ms=1\nhush-hush\n"), "config " + path + ":2: is not NAME=VALUE");
  EXPECT_EQ(error("acks=1\n"),
            "config " + path +
                ":1: acks is always all: a message is acked once every replica in sync has it");
  EXPECT_NE(error("enable.idempotence=false\n").find(":1: enable.idempotence is always true"),
            std::string::npos);
  EXPECT_NE(error("message.timeout.ms=0\n").find(":1: message.timeout.ms"), std::string::npos);
  // librdkafka itself reports settings that contradict each other.
  EXPECT_NE(error("max.in.flight=6\n").find("max.in.flight"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_FALSE(read_kafka_settings(path));
}

}  // namespace
}  // namespace tarry::relay

#endif
