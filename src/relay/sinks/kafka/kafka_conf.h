// librdkafka's configuration of a producer: our defaults, overridden by the file's settings. The
// settings on which a relay's guarantees depend override both.
//
// Pure functions.
#pragma once

#include <memory>

#include <librdkafka/rdkafka.h>

#include "relay/sinks/kafka/kafka_settings.h"

namespace tarry::relay::kafka {

struct ConfDestroyer {
  void operator()(rd_kafka_conf_t* conf) const noexcept { rd_kafka_conf_destroy(conf); }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, ConfDestroyer>;

struct HandleDestroyer {
  void operator()(rd_kafka_t* handle) const noexcept { rd_kafka_destroy(handle); }
};
using Handle = std::unique_ptr<rd_kafka_t, HandleDestroyer>;

struct QueueDestroyer {
  void operator()(rd_kafka_queue_t* queue) const noexcept { rd_kafka_queue_destroy(queue); }
};
using Queue = std::unique_ptr<rd_kafka_queue_t, QueueDestroyer>;

/// The configuration without the brokers. Errors: those of KafkaProducer::check that concern single
/// settings.
[[nodiscard]] Result<Conf> conf_of(const KafkaOptions& options);

}  // namespace tarry::relay::kafka
