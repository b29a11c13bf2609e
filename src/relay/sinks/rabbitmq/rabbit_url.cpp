#include "relay/sinks/rabbitmq/rabbit_url.h"

#include <array>

#include "base/text/text.h"
#include "net/rabbit/rabbit_url.h"

namespace tarry::relay {
namespace {

Result<void> set_allow_cc(std::string_view value, RabbitOptions& options) {
  if (value != "yes" && value != "no") {
    return base::invalid_url("allow_cc " + base::quoted(value) + " must be yes or no");
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

constexpr std::array<base::UrlOption<RabbitOptions>, 11> kRabbitSinkOptions{{
    {"exchange", net::rabbit::set_text<RabbitOptions, &RabbitOptions::exchange>},
    {"routing_key", net::rabbit::set_text<RabbitOptions, &RabbitOptions::routing_key>},
    {"exchange_from", net::rabbit::set_text<RabbitOptions, &RabbitOptions::exchange_header>},
    {"routing_key_from", net::rabbit::set_text<RabbitOptions, &RabbitOptions::routing_key_header>},
    {"allow_cc", set_allow_cc},
    {"channels", set_channels},
    {"heartbeat", net::rabbit::set_heartbeat<RabbitOptions>},
    {"password_file", net::rabbit::set_password_file<RabbitOptions>},
    {"ca", net::rabbit::set_tls<RabbitOptions, &net::RabbitTls::ca_file>},
    {"cert", net::rabbit::set_tls<RabbitOptions, &net::RabbitTls::certificate_file>},
    {"key", net::rabbit::set_tls<RabbitOptions, &net::RabbitTls::key_file>},
}};

}  // namespace

Result<RabbitOptions> rabbit_sink_options(std::string_view scheme, std::string_view rest) {
  auto options = net::rabbit::read_url<RabbitOptions>(scheme, rest, kRabbitSinkOptions);
  if (options && options->exchange.empty() && options->exchange_header.empty() &&
      options->routing_key.empty() && options->routing_key_header.empty()) {
    return base::invalid_url(
        "a sink in RabbitMQ needs exchange=NAME, or routing_key=QUEUE for the default one");
  }
  return options;
}

}  // namespace tarry::relay
