#include "net/rabbit/rabbit_url.h"

#include <utility>

#include "base/secrets/secret_file.h"
#include "base/text/text.h"

namespace tarry::net::rabbit {

Result<void> read_broker(std::string_view body, std::uint16_t default_port,
                         RabbitAddress& address) {
  if (!body.starts_with("//")) {
    return base::invalid_url("a broker's URL is amqp://HOST[:PORT][/VHOST]?...");
  }
  body.remove_prefix(2);
  const std::size_t slash = body.find('/');
  std::string_view authority = body.substr(0, slash);
  if (slash != std::string_view::npos && body.find('@', slash) != std::string_view::npos) {
    return base::misplaced_login();
  }
  if (slash != std::string_view::npos && slash + 1 < body.size()) {
    const auto vhost = base::percent_decoded("the virtual host", body.substr(slash + 1));
    if (!vhost) return vhost.error();
    address.vhost = *vhost;
  }
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    auto login = base::parse_login("the broker's URL", authority.substr(0, at));
    authority.remove_prefix(at + 1);
    if (!login) return login.error();
    address.user = std::move(login->user);
    if (login->password) address.password = *std::move(login->password);
  }
  const auto where = base::parse_authority(authority, default_port);
  if (!where) return where.error();
  address.host = where->host;
  address.port = where->port;
  return {};
}

Result<void> read_heartbeat(std::string_view value, RabbitAddress& address) {
  const auto ms = base::parse_duration_ms(value);
  if (!ms) return ms.error();
  if (*ms < 1'000 || *ms > 3'600'000 || *ms % 1'000 != 0) {
    return base::invalid_url("heartbeat " + base::quoted(value) +
                             " must be whole seconds from 1s to 1h");
  }
  address.heartbeat_s = static_cast<std::uint16_t>(*ms / 1'000);
  return {};
}

Result<void> read_password_file(std::string_view value, RabbitAddress& address) {
  auto password = base::read_secret("password_file", std::string(value));
  if (!password) return base::invalid_url(password.error().message);
  address.password = *std::move(password);
  return {};
}

Result<void> read_tls_file(std::string_view value, std::string RabbitTls::* field,
                           RabbitAddress& address) {
  if (!address.tls) return base::invalid_url("ca, cert and key go with amqps: only");
  (*address.tls).*field = value;
  return {};
}

}  // namespace tarry::net::rabbit
