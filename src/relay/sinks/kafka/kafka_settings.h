// A Kafka sink's options: brokers, topic, and librdkafka's own settings from a properties file,
// which may hold secrets.
//
// Pure functions, except for reading the file.
#pragma once

#include <string>
#include <vector>

#include <tarry/result.h>

namespace tarry::relay {

struct KafkaSetting {
  std::string name;  // as librdkafka calls it
  std::string value;
  std::string where;  // FILE:LINE, for errors
};

struct KafkaOptions {
  std::string brokers;  // HOST:PORT, several with commas between them
  std::string topic;
  std::vector<KafkaSetting> settings;
};

/// Lines of NAME=VALUE; blank ones and those that begin with # are skipped, spaces around names and
/// values too. Errors: `invalid_argument` for a file that cannot be read or a line of another kind,
/// named by its number and never shown, since it may be half a password.
[[nodiscard]] Result<std::vector<KafkaSetting>> read_kafka_settings(const std::string& file);

}  // namespace tarry::relay
