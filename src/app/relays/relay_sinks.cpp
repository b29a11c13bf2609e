#include "app/relays/relay_sinks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/system/descriptors.h"
#ifdef TARRY_WITH_WEBHOOK
#include "relay/sinks/webhook/webhook_url.h"
#endif
#include "base/nearest.h"
#include "base/text.h"
#include "base/url_parts.h"
#include "core/validation.h"
#include "open/redis_server.h"
#include "open/redis_url.h"
#include "open/store_url.h"
#include "relay/sinks/command/command_sink.h"
#include "relay/sinks/redis/redis_sink.h"
#include "relay/sinks/stdout/lines_sink.h"
#ifdef TARRY_WITH_KAFKA
#include "relay/sinks/kafka/kafka_sink.h"
#include "relay/sinks/kafka/kafka_url.h"
#endif
#ifdef TARRY_WITH_RABBITMQ
#include "relay/sinks/rabbitmq/rabbit_sink.h"
#include "relay/sinks/rabbitmq/rabbit_url.h"
#endif

namespace tarry::app {
namespace {

using SinkResult = Result<std::unique_ptr<relay::Sink>>;

Unexpected wrong(std::string message) {
  return Unexpected(ErrorCode::invalid_argument, std::move(message));
}

SinkResult make_command_sink(const SinkWish& wish) {
  if (wish.command.empty()) {
    return wrong("command needs a command after --: tarry relay QUEUE --to command -- COMMAND");
  }
  auto sink = std::make_unique<relay::CommandSink>(wish.command, wish.concurrency, wish.children);
  if (auto there = sink->check(); !there) return there.error();
  return SinkResult(std::move(sink));
}

/// Options of a URL that say where on the server messages go, and not which server it is.
Result<relay::RedisTarget> take_target(std::string_view query, std::string& rest) {
  static constexpr std::array<std::string_view, 10> kOfServers{
      "user",          "password_file",         "ca", "cert", "key", "name", "db", "master",
      "sentinel_user", "sentinel_password_file"};
  static constexpr std::array<std::string_view, 3> kKinds{"list", "stream", "channel"};
  std::optional<relay::RedisTarget> target;
  std::optional<std::uint64_t> max_length;
  for (const std::string_view part : base::split(query, '&')) {
    const std::string_view name = part.substr(0, part.find('='));
    if (part.empty()) continue;
    if (std::ranges::find(kOfServers, name) != kOfServers.end()) {
      rest.append(rest.empty() ? "?" : "&").append(part);
      continue;
    }
    const auto kind = std::ranges::find(kKinds, name);
    if (kind == kKinds.end() && name != "maxlen") {
      std::vector<std::string_view> known(kKinds.begin(), kKinds.end());
      known.push_back("maxlen");
      known.insert(known.end(), kOfServers.begin(), kOfServers.end());
      return wrong(fmt::format("option {} is not one of a sink in Redis, which are {}{}",
                               base::quoted(name), fmt::join(known, ", "),
                               base::did_you_mean(name, known)));
    }
    const std::size_t equals = part.find('=');
    const auto value = base::percent_decoded(
        name, equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!value) return value.error();
    if (value->empty()) return wrong(fmt::format("option {0} needs a value: {0}=VALUE", name));
    if (name == "maxlen") {
      const auto number = base::parse_u64(*value, "maxlen", 1, 1'000'000'000'000);
      if (!number) return number.error();
      max_length = *number;
      continue;
    }
    if (target) return wrong("list, stream and channel exclude each other");
    target.emplace();
    target->kind = static_cast<relay::RedisTarget::Kind>(kind - kKinds.begin());
    target->name = *value;
  }
  if (!target) return wrong("a sink in Redis needs list=NAME, stream=NAME or channel=NAME");
  if (max_length && target->kind != relay::RedisTarget::Kind::stream) {
    return wrong("maxlen goes with stream= only");
  }
  target->max_length = max_length.value_or(0);
  return *target;
}

SinkResult make_redis_sink(std::string_view scheme, std::string_view rest) {
  const base::BodyAndQuery parts = base::split_query(rest);
  std::string options;
  auto target = take_target(parts.query, options);
  // What follows a ? may be the end of a password with one in it.
  if (!target && parts.query.find('@') != std::string_view::npos) return base::misplaced_login();
  if (!target) return target.error();
  const auto url = detail::parse_redis_url(scheme, std::string(parts.body) + options);
  if (!url) return url.error();
  if (url->topology == detail::RedisUrl::Topology::cluster) {
    return Unexpected(ErrorCode::unsupported,
                      "a Redis Cluster is no sink yet; one server or sentinels are");
  }
  auto server = detail::redis_server_of(*url);
  if (!server) return server.error();
  return SinkResult(std::make_unique<relay::RedisSink>(*std::move(server), *std::move(target)));
}

#ifdef TARRY_WITH_RABBITMQ
SinkResult make_rabbit_sink(std::string_view scheme, std::string_view rest) {
  auto options = relay::rabbit_sink_options(scheme, rest);
  if (!options) return wrong(options.error().message);
  return SinkResult(std::make_unique<relay::RabbitSink>(*std::move(options)));
}
#endif

#ifdef TARRY_WITH_KAFKA
SinkResult make_kafka_sink(std::string_view rest) {
  auto options = relay::kafka_sink_options(rest);
  if (!options) return wrong(options.error().message);
  auto sink = relay::KafkaSink::make(*std::move(options));
  if (!sink) return sink.error();
  return SinkResult(*std::move(sink));
}
#endif

}  // namespace

std::vector<std::string_view> sink_kinds() {
  std::vector<std::string_view> kinds{"stdout", "command", "redis"};
#ifdef TARRY_WITH_RABBITMQ
  kinds.push_back("rabbitmq");
#endif
#ifdef TARRY_WITH_WEBHOOK
  kinds.push_back("webhook");
#endif
#ifdef TARRY_WITH_KAFKA
  kinds.push_back("kafka");
#endif
  return kinds;
}

std::string shown_sink(std::string_view to) {
  const std::size_t hash = to.find('#');
  const bool is_webhook = to.starts_with("http://") || to.starts_with("https://");
  // One that is ill-formed: what follows a # may be the end of a password with one in it.
  if (!is_webhook ||
      (hash != std::string_view::npos && to.find('@', hash) != std::string_view::npos))
    return detail::masked_url(to);
  const std::size_t host = to.find("//") + 2;
  const std::size_t end = std::min(to.find_first_of("/?#", host), to.size());
  const std::string_view fragment = hash == std::string_view::npos ? "" : to.substr(hash);
  const bool has_target = end < to.size() && to[end] != '#' && to.substr(end, hash - end) != "/";
  return detail::masked_url(to.substr(0, end)) + (has_target ? "/***" : "") + std::string(fragment);
}

SinkResult make_sink(const SinkWish& wish) {
  if (wish.to != "command" && !wish.command.empty()) {
    return wrong("what follows -- is for --to command");
  }
  if (wish.to == "stdout") {
    if (!is_open_for_writing(STDOUT_FILENO)) {
      return wrong("stdout is closed, or not open for writing");
    }
    return SinkResult(std::make_unique<relay::LinesSink>(STDOUT_FILENO, wish.on_broken));
  }
  if (wish.to == "command") return make_command_sink(wish);
  const std::size_t colon = wish.to.find(':');
  const std::string_view scheme = std::string_view(wish.to).substr(0, colon);
  if (colon != std::string::npos && detail::is_redis_scheme(scheme)) {
    return make_redis_sink(scheme, std::string_view(wish.to).substr(colon + 1));
  }
  if (colon != std::string::npos && (scheme == "amqp" || scheme == "amqps")) {
#ifdef TARRY_WITH_RABBITMQ
    return make_rabbit_sink(scheme, std::string_view(wish.to).substr(colon + 1));
#else
    return Unexpected(ErrorCode::unsupported, "this build cannot talk to RabbitMQ");
#endif
  }
  if (colon != std::string::npos && (scheme == "http" || scheme == "https")) {
#ifdef TARRY_WITH_WEBHOOK
    return relay::make_webhook_sink(wish.to);
#else
    return Unexpected(ErrorCode::unsupported, "this build knows no webhooks");
#endif
  }
  if (colon != std::string::npos && scheme == "kafka") {
#ifdef TARRY_WITH_KAFKA
    return make_kafka_sink(std::string_view(wish.to).substr(colon + 1));
#else
    return Unexpected(ErrorCode::unsupported, "this build cannot talk to Kafka");
#endif
  }
  std::vector<std::string_view> known = detail::redis_schemes();
  known.insert(known.begin(), {"stdout", "command", "http", "https", "amqp", "amqps", "kafka"});
  // Only the scheme: what follows may hold a password.
  return wrong(
      fmt::format("{} names no sink; those are stdout, command, redis://, amqp://, kafka://, "
                  "http:// and https://{}",
                  base::quoted(scheme), base::did_you_mean(scheme, known)));
}

}  // namespace tarry::app
