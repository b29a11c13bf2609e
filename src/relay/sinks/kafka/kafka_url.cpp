#include "relay/sinks/kafka/kafka_url.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "base/text/text.h"
#include "base/text/url_parts.h"

namespace tarry::relay {
namespace {

constexpr std::uint16_t kKafkaPort = 9092;
constexpr std::size_t kMaxTopic = 249;

Unexpected not_kafka(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<void> set_config(std::string_view value, KafkaOptions& options) {
  auto settings = read_kafka_settings(std::string(value));
  if (!settings) return settings.error();
  options.settings = *std::move(settings);
  return {};
}

constexpr std::array<base::UrlOption<KafkaOptions>, 1> kKafkaOptions{{{"config", set_config}}};

Result<std::string> read_topic(std::string_view text) {
  auto topic = base::percent_decoded("the topic", text);
  if (!topic) return topic;
  const bool known = std::ranges::all_of(*topic, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  if (topic->empty() || topic->size() > kMaxTopic || !known || *topic == "." || *topic == "..") {
    return not_kafka(
        fmt::format("topic {} must be 1 to {} letters, digits, dots, underscores and "
                    "hyphens",
                    base::quoted(*topic), kMaxTopic));
  }
  return topic;
}

Result<KafkaOptions> read_kafka_parts(const base::BodyAndQuery& parts) {
  std::string_view body = parts.body;
  const std::size_t slash = body.find('/', 2);
  if (!body.starts_with("//") || slash == std::string_view::npos) {
    return not_kafka("a sink in Kafka is kafka://HOST[:PORT][,HOST...]/TOPIC");
  }
  const std::string_view brokers = body.substr(2, slash - 2);
  KafkaOptions options;
  for (const std::string_view broker : base::split(brokers, ',')) {
    const auto where = base::parse_authority(broker, kKafkaPort);
    if (!where) return where.error();
    const bool v6 = where->host.find(':') != std::string::npos;
    options.brokers += fmt::format("{}{}{}{}:{}", options.brokers.empty() ? "" : ",", v6 ? "[" : "",
                                   where->host, v6 ? "]" : "", where->port);
  }
  auto topic = read_topic(body.substr(slash + 1));
  if (!topic) return topic.error();
  options.topic = *std::move(topic);
  if (auto set = base::parse_options<KafkaOptions>(parts.query, "kafka", kKafkaOptions, options);
      !set) {
    return set.error();
  }
  return options;
}

}  // namespace

Result<KafkaOptions> kafka_sink_options(std::string_view rest) {
  const base::BodyAndQuery parts = base::split_query(rest);
  // This check comes first, so that no part of a password appears in an error as a bad host, port
  // or topic.
  if (parts.body.find('@') != std::string_view::npos) {
    return not_kafka(
        "no user and password in a URL of Kafka: sasl.username and sasl.password go into a file, "
        "which ?config=FILE names");
  }
  auto options = read_kafka_parts(parts);
  if (!options && parts.query.find('@') != std::string_view::npos) {
    return base::misplaced_login();
  }
  return options;
}

}  // namespace tarry::relay
