// librdkafka's mock cluster, which speaks Kafka's protocol on free ports of 127.0.0.1, and a
// consumer of a topic in it.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

namespace tarry::testing {

struct KafkaRecord {
  std::int32_t partition = 0;
  std::string key;
  std::string value;
  bool is_tombstone = false;
  std::int64_t made_ms = 0;  // when the producer accepted it, by the producer's clock
  std::map<std::string, std::string> headers;
};

class KafkaCluster {
 public:
  static constexpr int kPartitions = 4;  // of a topic that is created automatically

  explicit KafkaCluster(int brokers) : brokers_(brokers), handle_(producer()) {
    cluster_ = rd_kafka_mock_cluster_new(handle_, brokers);
    if (cluster_ == nullptr) throw std::runtime_error("no mock cluster");
  }
  ~KafkaCluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(handle_);
  }
  KafkaCluster(const KafkaCluster&) = delete;
  KafkaCluster& operator=(const KafkaCluster&) = delete;

  [[nodiscard]] std::string brokers() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  [[nodiscard]] rd_kafka_mock_cluster_t* mock() const { return cluster_; }
  void down() {
    for (int id = 1; id <= brokers_; ++id) rd_kafka_mock_broker_set_down(cluster_, id);
  }
  void up() {
    for (int id = 1; id <= brokers_; ++id) rd_kafka_mock_broker_set_up(cluster_, id);
  }

  static rd_kafka_t* made(rd_kafka_type_t type, rd_kafka_conf_t* conf) {
    char error[512];
    rd_kafka_conf_set_log_cb(conf, nullptr);
    rd_kafka_t* handle = rd_kafka_new(type, conf, error, sizeof error);
    if (handle == nullptr) throw std::runtime_error(error);
    return handle;
  }

 private:
  static rd_kafka_t* producer() { return made(RD_KAFKA_PRODUCER, rd_kafka_conf_new()); }

  int brokers_;
  rd_kafka_t* handle_;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

/// Reads all partitions from their beginnings.
class KafkaConsumer {
 public:
  KafkaConsumer(const std::string& brokers, const std::string& topic) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char error[512];
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"bootstrap.servers", brokers},
                                            {"group.id", "test"},
                                            {"reconnect.backoff.max.ms", "500"},
                                            {"allow.auto.create.topics", "true"},
                                            {"enable.auto.commit", "false"}}) {
      if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error) !=
          RD_KAFKA_CONF_OK) {
        throw std::runtime_error(error);
      }
    }
    handle_ = KafkaCluster::made(RD_KAFKA_CONSUMER, conf);
    rd_kafka_poll_set_consumer(handle_);
    rd_kafka_topic_partition_list_t* all =
        rd_kafka_topic_partition_list_new(KafkaCluster::kPartitions);
    for (int i = 0; i < KafkaCluster::kPartitions; ++i) {
      rd_kafka_topic_partition_list_add(all, topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_assign(handle_, all);
    rd_kafka_topic_partition_list_destroy(all);
  }
  ~KafkaConsumer() {
    rd_kafka_consumer_close(handle_);
    rd_kafka_destroy(handle_);
  }
  KafkaConsumer(const KafkaConsumer&) = delete;
  KafkaConsumer& operator=(const KafkaConsumer&) = delete;

  /// The next record; null if none comes in time.
  std::unique_ptr<KafkaRecord> next(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    do {
      rd_kafka_message_t* message = rd_kafka_consumer_poll(handle_, 100);
      if (message == nullptr) continue;
      std::unique_ptr<KafkaRecord> record;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) record = record_of(message);
      rd_kafka_message_destroy(message);
      if (record) return record;
    } while (std::chrono::steady_clock::now() < until);
    return nullptr;
  }

 private:
  static std::string text(const void* bytes, std::size_t size) {
    return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
  }
  static std::unique_ptr<KafkaRecord> record_of(const rd_kafka_message_t* message) {
    auto record = std::make_unique<KafkaRecord>();
    record->partition = message->partition;
    record->key = text(message->key, message->key_len);
    record->value = text(message->payload, message->len);
    record->is_tombstone = message->payload == nullptr;
    record->made_ms = rd_kafka_message_timestamp(message, nullptr);
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const char* name = nullptr;
      const void* value = nullptr;
      std::size_t size = 0;
      for (std::size_t i = 0;
           rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
           ++i) {
        record->headers[name] = text(value, size);
      }
    }
    return record;
  }

  rd_kafka_t* handle_ = nullptr;
};

}  // namespace tarry::testing
