// URLs of Kafka: reads brokers, topic and the name of librdkafka's settings file from the part
// after kafka:.
//
// Errors name the value and the limit, and never a password. Pure functions, except for reading the
// file.
#pragma once

#include <string_view>

#include <tarry/result.h>

#include "relay/sinks/kafka/kafka_settings.h"

namespace tarry::relay {

/// "//HOST[:PORT][,HOST[:PORT]...]/TOPIC[?config=FILE]"; the port is 9092 unless given.
[[nodiscard]] Result<KafkaOptions> kafka_sink_options(std::string_view rest);

}  // namespace tarry::relay
