#ifdef TARRY_WITH_RABBITMQ

#include "app/relays/rabbit_url.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/secret_file.h"
#include "base/text.h"
#include "open/url_parts.h"

namespace tarry::app {
namespace {

using relay::RabbitAddress;
using relay::RabbitOptions;
using relay::RabbitSourceOptions;

Unexpected not_so(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

template <typename Options, std::string Options::* kField>
Result<void> set_text(std::string_view value, Options& options) {
  options.*kField = value;
  return {};
}
template <typename Options, std::string relay::RabbitTls::* kField>
Result<void> set_tls(std::string_view value, Options& options) {
  if (!options.tls) return not_so("ca, cert and key go with amqps: only");
  (*options.tls).*kField = value;
  return {};
}
Result<void> set_allow_cc(std::string_view value, RabbitOptions& options) {
  if (value != "yes" && value != "no") {
    return not_so(fmt::format("allow_cc {} must be yes or no", base::quoted(value)));
  }
  options.allow_copies = value == "yes";
  return {};
}
Result<void> set_channels(std::string_view value, RabbitOptions& options) {
  const auto number = base::parse_u64(value, "channels", 1, 64);
  if (!number) return number.error();
  options.channels = static_cast<std::uint16_t>(*number);
  return {};
}
template <typename Options>
Result<void> set_heartbeat(std::string_view value, Options& options) {
  const auto ms = base::parse_duration_ms(value);
  if (!ms) return ms.error();
  if (*ms < 1'000 || *ms > 3'600'000 || *ms % 1'000 != 0) {
    return not_so(
        fmt::format("heartbeat {} must be whole seconds from 1s to 1h", base::quoted(value)));
  }
  options.heartbeat_s = static_cast<std::uint16_t>(*ms / 1'000);
  return {};
}
template <typename Options>
Result<void> set_password_file(std::string_view value, Options& options) {
  auto password = base::read_secret("password_file", std::string(value));
  if (!password) return not_so(password.error().message);
  options.password = *std::move(password);
  return {};
}

constexpr std::array<detail::UrlOption<RabbitOptions>, 11> kSinkOptions{{
    {"exchange", set_text<RabbitOptions, &RabbitOptions::exchange>},
    {"routing_key", set_text<RabbitOptions, &RabbitOptions::routing_key>},
    {"exchange_from", set_text<RabbitOptions, &RabbitOptions::exchange_header>},
    {"routing_key_from", set_text<RabbitOptions, &RabbitOptions::routing_key_header>},
    {"allow_cc", set_allow_cc},
    {"channels", set_channels},
    {"heartbeat", set_heartbeat<RabbitOptions>},
    {"password_file", set_password_file<RabbitOptions>},
    {"ca", set_tls<RabbitOptions, &relay::RabbitTls::ca_file>},
    {"cert", set_tls<RabbitOptions, &relay::RabbitTls::certificate_file>},
    {"key", set_tls<RabbitOptions, &relay::RabbitTls::key_file>},
}};

constexpr std::array<detail::UrlOption<RabbitSourceOptions>, 8> kSourceOptions{{
    {"queue", set_text<RabbitSourceOptions, &RabbitSourceOptions::queue>},
    {"exchange", set_text<RabbitSourceOptions, &RabbitSourceOptions::exchange>},
    {"refused", set_text<RabbitSourceOptions, &RabbitSourceOptions::refused>},
    {"heartbeat", set_heartbeat<RabbitSourceOptions>},
    {"password_file", set_password_file<RabbitSourceOptions>},
    {"ca", set_tls<RabbitSourceOptions, &relay::RabbitTls::ca_file>},
    {"cert", set_tls<RabbitSourceOptions, &relay::RabbitTls::certificate_file>},
    {"key", set_tls<RabbitSourceOptions, &relay::RabbitTls::key_file>},
}};

/// USER:PASSWORD, HOST:PORT and VHOST of "//USER:PASSWORD@HOST:PORT/VHOST".
Result<void> read_rabbit_server(std::string_view body, std::uint16_t default_port,
                                RabbitAddress& address) {
  if (!body.starts_with("//")) return not_so("a broker's URL is amqp://HOST[:PORT][/VHOST]?...");
  body.remove_prefix(2);
  const std::size_t slash = body.find('/');
  std::string_view authority = body.substr(0, slash);
  if (slash != std::string_view::npos && body.find('@', slash) != std::string_view::npos) {
    return detail::misplaced_login();
  }
  if (slash != std::string_view::npos && slash + 1 < body.size()) {
    const auto vhost = detail::percent_decoded("the virtual host", body.substr(slash + 1));
    if (!vhost) return vhost.error();
    address.vhost = *vhost;
  }
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    auto login = detail::parse_login("the broker's URL", authority.substr(0, at));
    authority.remove_prefix(at + 1);
    if (!login) return login.error();
    address.user = std::move(login->user);
    if (login->password) address.password = *std::move(login->password);
  }
  const auto where = detail::parse_authority(authority, default_port);
  if (!where) return where.error();
  address.host = where->host;
  address.port = where->port;
  return {};
}

template <typename Options>
Result<Options> read_rabbit_parts(std::string_view scheme, const detail::BodyAndQuery& parts,
                                  std::span<const detail::UrlOption<Options>> known) {
  Options options;
  const bool tls = scheme == "amqps";
  if (tls) options.tls.emplace();
  const std::uint16_t port = tls ? 5671 : 5672;
  if (auto read = read_rabbit_server(parts.body, port, options); !read) return read.error();
  if (auto set = detail::parse_options<Options>(parts.query, scheme, known, options); !set) {
    return set.error();
  }
  if (options.tls && options.tls->certificate_file.empty() != options.tls->key_file.empty()) {
    return not_so("cert and key go together");
  }
  return options;
}

template <typename Options>
Result<Options> read_rabbit_url(std::string_view scheme, std::string_view rest,
                                std::span<const detail::UrlOption<Options>> known) {
  const detail::BodyAndQuery parts = detail::split_query(rest);
  auto options = read_rabbit_parts<Options>(scheme, parts, known);
  if (!options && parts.query.find('@') != std::string_view::npos) {
    return detail::misplaced_login();
  }
  return options;
}

}  // namespace

Result<RabbitOptions> rabbit_sink_options(std::string_view scheme, std::string_view rest) {
  auto options = read_rabbit_url<RabbitOptions>(scheme, rest, kSinkOptions);
  if (options && options->exchange.empty() && options->exchange_header.empty() &&
      options->routing_key.empty() && options->routing_key_header.empty()) {
    return not_so(
        "a sink in RabbitMQ needs exchange=NAME, or routing_key=QUEUE for the default one");
  }
  return options;
}

Result<RabbitSourceOptions> rabbit_source_options(std::string_view scheme, std::string_view rest) {
  auto options = read_rabbit_url<RabbitSourceOptions>(scheme, rest, kSourceOptions);
  if (options && options->queue.empty()) {
    return not_so("an intake from RabbitMQ needs queue=NAME");
  }
  if (options && options->refused.empty()) options->refused = options->queue + ".refused";
  return options;
}

}  // namespace tarry::app

#endif
