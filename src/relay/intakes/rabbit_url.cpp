#include "relay/intakes/rabbit_url.h"

#include <array>

#include "relay/rabbit/rabbit_url.h"

namespace tarry::relay {
namespace {

using Source = RabbitSourceOptions;

constexpr std::array<base::UrlOption<Source>, 8> kRabbitSourceOptions{{
    {"queue", rabbit::set_text<Source, &Source::queue>},
    {"exchange", rabbit::set_text<Source, &Source::exchange>},
    {"refused", rabbit::set_text<Source, &Source::refused>},
    {"heartbeat", rabbit::set_heartbeat<Source>},
    {"password_file", rabbit::set_password_file<Source>},
    {"ca", rabbit::set_tls<Source, &RabbitTls::ca_file>},
    {"cert", rabbit::set_tls<Source, &RabbitTls::certificate_file>},
    {"key", rabbit::set_tls<Source, &RabbitTls::key_file>},
}};

}  // namespace

Result<RabbitSourceOptions> rabbit_source_options(std::string_view scheme, std::string_view rest) {
  auto options = rabbit::read_url<Source>(scheme, rest, kRabbitSourceOptions);
  if (options && options->queue.empty()) {
    return base::invalid_url("an intake from RabbitMQ needs queue=NAME");
  }
  if (options && options->refused.empty()) options->refused = options->queue + ".refused";
  return options;
}

}  // namespace tarry::relay
