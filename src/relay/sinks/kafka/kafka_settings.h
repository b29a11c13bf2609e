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
  std::string name;  // librdkafka's name for it
  std::string value;
  std::string where;  // FILE:LINE, for errors
};

struct KafkaOptions {
  std::string brokers;  // HOST:PORT, separated by commas
  std::string topic;
  std::vector<KafkaSetting> settings;
};

/// Reads lines of NAME=VALUE. Blank lines, lines that begin with #, and spaces around names and
/// values are ignored. Error: `invalid_argument` for a file that cannot be read, or for a line of
/// another form. The error names the line's number and never shows the line, which may be half a
/// password.
[[nodiscard]] Result<std::vector<KafkaSetting>> read_kafka_settings(const std::string& file);

}  // namespace tarry::relay
