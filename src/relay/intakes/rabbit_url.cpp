#include "relay/intakes/rabbit_url.h"

#include <array>

#include "net/rabbit/rabbit_url.h"

namespace tarry::relay {
namespace {

using Source = RabbitSourceOptions;

constexpr std::array<base::UrlOption<Source>, 8> kRabbitSourceOptions{{
    {"queue", net::rabbit::set_text<Source, &Source::queue>},
    {"exchange", net::rabbit::set_text<Source, &Source::exchange>},
    {"refused", net::rabbit::set_text<Source, &Source::refused>},
    {"heartbeat", net::rabbit::set_heartbeat<Source>},
    {"password_file", net::rabbit::set_password_file<Source>},
    {"ca", net::rabbit::set_tls<Source, &net::RabbitTls::ca_file>},
    {"cert", net::rabbit::set_tls<Source, &net::RabbitTls::certificate_file>},
    {"key", net::rabbit::set_tls<Source, &net::RabbitTls::key_file>},
}};

}  // namespace

Result<RabbitSourceOptions> rabbit_source_options(std::string_view scheme, std::string_view rest) {
  auto options = net::rabbit::read_url<Source>(scheme, rest, kRabbitSourceOptions);
  if (options && options->queue.empty()) {
    return base::invalid_url("an intake from RabbitMQ needs queue=NAME");
  }
  if (options && options->refused.empty()) options->refused = options->queue + ".refused";
  return options;
}

}  // namespace tarry::relay
