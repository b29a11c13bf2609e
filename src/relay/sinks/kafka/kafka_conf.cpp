#include "relay/sinks/kafka/kafka_conf.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text/text.h"

namespace tarry::relay::kafka {
namespace {

using NameAndText = std::pair<const char*, const char*>;

/// Defaults, which the settings file may override.
constexpr std::array<NameAndText, 6> kDefaults{{
    {"client.id", "tarry"},
    {"message.timeout.ms", "30000"},
    // With this, a key has the same partition as with Java's producers.
    {"partitioner", "murmur2_random"},
    {"reconnect.backoff.max.ms", "1000"},
    {"topic.metadata.propagation.max.ms", "5000"},
    {"socket.keepalive.enable", "true"},
}};

/// Settings that the settings file must not change.
constexpr std::array<NameAndText, 2> kForced{{{"enable.idempotence", "true"}, {"acks", "all"}}};

/// Names that must not occur in a settings file -> why.
constexpr std::array<NameAndText, 7> kNotTheFiles{{
    {"enable.idempotence", "is always true: what is confirmed is there once"},
    {"acks", "is always all: a message is acked once every replica in sync has it"},
    {"request.required.acks",
     "is always all: a message is acked once every replica in sync has it"},
    {"bootstrap.servers", "stands in the URL: kafka://HOST:PORT,HOST:PORT/TOPIC"},
    {"metadata.broker.list", "stands in the URL: kafka://HOST:PORT,HOST:PORT/TOPIC"},
    {"transactional.id", "is not possible: a relay's messages are no transaction"},
    {"delivery.report.only.error", "is not possible: a message is acked on its report"},
}};

Unexpected not_set(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<void> set(rd_kafka_conf_t* conf, const char* name, const char* value,
                 const std::string& where) {
  std::array<char, 512> error{};
  if (rd_kafka_conf_set(conf, name, value, error.data(), error.size()) == RD_KAFKA_CONF_OK) {
    return {};
  }
  return not_set(where + error.data());
}

Result<void> set_from_file(rd_kafka_conf_t* conf, const KafkaSetting& setting) {
  const std::string where = "config " + setting.where + ": ";
  const auto taken =
      std::ranges::find(kNotTheFiles, std::string_view(setting.name),
                        [](const NameAndText& one) { return std::string_view(one.first); });
  if (taken != kNotTheFiles.end()) return not_set(where + setting.name + " " + taken->second);
  // 0 would mean no time-out, but every message must get an answer.
  if (setting.name == "message.timeout.ms" || setting.name == "delivery.timeout.ms") {
    const auto ms = base::parse_u64(setting.value, setting.name, 1, 3'600'000);
    if (!ms) return not_set(where + ms.error().message);
  }
  return set(conf, setting.name.c_str(), setting.value.c_str(), where);
}

}  // namespace

Result<Conf> conf_of(const KafkaOptions& options) {
  Conf conf(rd_kafka_conf_new());
  for (const auto& [name, value] : kDefaults) {
    if (auto done = set(conf.get(), name, value, ""); !done) return done.error();
  }
  bool debug = false;
  for (const KafkaSetting& setting : options.settings) {
    if (auto done = set_from_file(conf.get(), setting); !done) return done.error();
    debug = debug || setting.name == "debug";
  }
  for (const auto& [name, value] : kForced) {
    if (auto done = set(conf.get(), name, value, ""); !done) return done.error();
  }
  // The relay itself reports the sink's state; librdkafka's own lines are for debugging only.
  if (!debug) rd_kafka_conf_set_log_cb(conf.get(), nullptr);
  return conf;
}

}  // namespace tarry::relay::kafka
