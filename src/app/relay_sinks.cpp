#include "app/relay_sinks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "core/validation.h"
#include "open/redis_server.h"
#include "open/redis_url.h"
#include "open/url_parts.h"
#include "relay/sinks/command_sink.h"
#include "relay/sinks/lines_sink.h"
#include "relay/sinks/redis_sink.h"
#ifdef TARRY_WITH_RABBITMQ
#include "relay/sinks/rabbit_sink.h"
#endif

namespace tarry::app {
namespace {

using SinkResult = Result<std::unique_ptr<relay::Sink>>;

Unexpected wrong(std::string message) {
  return Unexpected(ErrorCode::invalid_argument, "--to: " + std::move(message));
}

SinkResult make_command_sink(const SinkWish& wish) {
  if (wish.command.empty()) {
    return wrong("command needs a command after --: tarry relay QUEUE --to command -- COMMAND");
  }
  auto sink = std::make_unique<relay::CommandSink>(wish.command, wish.concurrency);
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
  for (const std::string_view part : detail::split(query, '&')) {
    const std::string_view name = part.substr(0, part.find('='));
    if (part.empty()) continue;
    if (std::ranges::find(kOfServers, name) != kOfServers.end()) {
      rest.append(rest.empty() ? "?" : "&").append(part);
      continue;
    }
    const auto kind = std::ranges::find(kKinds, name);
    if (kind == kKinds.end() && name != "maxlen") {
      return wrong(
          fmt::format("option {} is not one of a sink in Redis, which are list, stream, "
                      "channel, maxlen and those of the connection",
                      base::quoted(name)));
    }
    const std::size_t equals = part.find('=');
    const auto value = detail::percent_decoded(
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
  const detail::BodyAndQuery parts = detail::split_query(rest);
  std::string options;
  auto target = take_target(parts.query, options);
  if (!target) return target.error();
  const auto url = detail::parse_redis_url(scheme, std::string(parts.body) + options);
  if (!url) return url.error();
  if (url->topology == detail::RedisUrl::Topology::cluster) {
    return Unexpected(ErrorCode::unsupported,
                      "--to: a Redis Cluster is no sink yet; one server or sentinels are");
  }
  auto server = detail::redis_server_of(*url);
  if (!server) return server.error();
  return SinkResult(std::make_unique<relay::RedisSink>(*std::move(server), *std::move(target)));
}

#ifdef TARRY_WITH_RABBITMQ
using RabbitUrlOption = detail::UrlOption<relay::RabbitOptions>;

template <std::string relay::RabbitOptions::* kField>
Result<void> set_field(std::string_view value, relay::RabbitOptions& options) {
  options.*kField = value;
  return {};
}
template <std::string relay::RabbitTls::* kField>
Result<void> set_tls(std::string_view value, relay::RabbitOptions& options) {
  if (!options.tls) return wrong("ca, cert and key go with amqps: only");
  (*options.tls).*kField = value;
  return {};
}
Result<void> set_channels(std::string_view value, relay::RabbitOptions& options) {
  const auto number = base::parse_u64(value, "channels", 1, 64);
  if (!number) return number.error();
  options.channels = static_cast<std::uint16_t>(*number);
  return {};
}
Result<void> set_heartbeat(std::string_view value, relay::RabbitOptions& options) {
  const auto ms = base::parse_duration_ms(value);
  if (!ms) return ms.error();
  if (*ms < 1'000 || *ms > 3'600'000 || *ms % 1'000 != 0) {
    return wrong(
        fmt::format("heartbeat {} must be whole seconds from 1s to 1h", base::quoted(value)));
  }
  options.heartbeat_s = static_cast<std::uint16_t>(*ms / 1'000);
  return {};
}
Result<void> set_password_file(std::string_view value, relay::RabbitOptions& options) {
  std::ifstream file{std::string(value)};
  if (!std::getline(file, options.password)) {
    return wrong(fmt::format("password_file {} cannot be read, or is empty", base::quoted(value)));
  }
  if (options.password.ends_with('\r')) options.password.pop_back();
  return {};
}

constexpr std::array<RabbitUrlOption, 10> kRabbitOptions{{
    {"exchange", set_field<&relay::RabbitOptions::exchange>},
    {"routing_key", set_field<&relay::RabbitOptions::routing_key>},
    {"exchange_from", set_field<&relay::RabbitOptions::exchange_header>},
    {"routing_key_from", set_field<&relay::RabbitOptions::routing_key_header>},
    {"channels", set_channels},
    {"heartbeat", set_heartbeat},
    {"password_file", set_password_file},
    {"ca", set_tls<&relay::RabbitTls::ca_file>},
    {"cert", set_tls<&relay::RabbitTls::certificate_file>},
    {"key", set_tls<&relay::RabbitTls::key_file>},
}};

/// USER:PASSWORD, HOST:PORT and VHOST of "//USER:PASSWORD@HOST:PORT/VHOST".
Result<void> read_rabbit_server(std::string_view body, std::uint16_t default_port,
                                relay::RabbitOptions& options) {
  if (!body.starts_with("//")) return wrong("a broker's URL is amqp://HOST[:PORT][/VHOST]?...");
  body.remove_prefix(2);
  const std::size_t slash = body.find('/');
  std::string_view authority = body.substr(0, slash);
  if (slash != std::string_view::npos && slash + 1 < body.size()) {
    const auto vhost = detail::percent_decoded("the virtual host", body.substr(slash + 1));
    if (!vhost) return vhost.error();
    options.vhost = *vhost;
  }
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = authority.substr(0, at);
    authority.remove_prefix(at + 1);
    const std::size_t colon = who.find(':');
    const auto user = detail::percent_decoded("the user", who.substr(0, colon));
    if (!user) return user.error();
    options.user = *user;
    if (colon != std::string_view::npos) {
      const auto password = detail::percent_decoded("the password", who.substr(colon + 1));
      if (!password) return password.error();
      options.password = *password;
    }
  }
  const auto where = detail::parse_authority(authority, default_port);
  if (!where) return where.error();
  options.host = where->host;
  options.port = where->port;
  return {};
}

SinkResult make_rabbit_sink(std::string_view scheme, std::string_view rest) {
  relay::RabbitOptions options;
  const bool tls = scheme == "amqps";
  if (tls) options.tls.emplace();
  const detail::BodyAndQuery parts = detail::split_query(rest);
  const std::uint16_t port = tls ? 5671 : 5672;
  if (auto read = read_rabbit_server(parts.body, port, options); !read) return read.error();
  if (auto set =
          detail::parse_options<relay::RabbitOptions>(parts.query, scheme, kRabbitOptions, options);
      !set) {
    return set.error();
  }
  if (options.exchange.empty() && options.exchange_header.empty() && options.routing_key.empty() &&
      options.routing_key_header.empty()) {
    return wrong(
        "a sink in RabbitMQ needs exchange=NAME, or routing_key=QUEUE for the default one");
  }
  if (options.tls && options.tls->certificate_file.empty() != options.tls->key_file.empty()) {
    return wrong("cert and key go together");
  }
  return SinkResult(std::make_unique<relay::RabbitSink>(std::move(options)));
}
#endif

}  // namespace

std::vector<std::string_view> sink_kinds() {
  std::vector<std::string_view> kinds{"stdout", "command", "redis"};
#ifdef TARRY_WITH_RABBITMQ
  kinds.push_back("rabbitmq");
#endif
  return kinds;
}

SinkResult make_sink(const SinkWish& wish) {
  if (wish.to != "command" && !wish.command.empty()) {
    return wrong("what follows -- is for --to command");
  }
  if (wish.to == "stdout") {
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
    return Unexpected(ErrorCode::unsupported, "--to: this build cannot talk to RabbitMQ");
#endif
  }
  // Only the scheme: what follows may hold a password.
  return wrong(fmt::format("{} names no sink; those are stdout, command, redis:// and amqp://",
                           base::quoted(scheme)));
}

}  // namespace tarry::app
