// URLs of RabbitMQ: the part that sinks and intakes share. It names the broker and the login, and
// reads the options of a sink or an intake.
//
// Errors name the value and the limit, and never a password. Pure functions, except for
// password_file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "base/text/url_parts.h"
#include "net/rabbit/address.h"

namespace tarry::net::rabbit {

/// Reads USER:PASSWORD, HOST:PORT and VHOST from "//USER:PASSWORD@HOST:PORT/VHOST".
[[nodiscard]] Result<void> read_broker(std::string_view body, std::uint16_t default_port,
                                       RabbitAddress& address);

// Options of both sinks and intakes.
[[nodiscard]] Result<void> read_heartbeat(std::string_view value, RabbitAddress& address);
[[nodiscard]] Result<void> read_password_file(std::string_view value, RabbitAddress& address);
[[nodiscard]] Result<void> read_tls_file(std::string_view value, std::string RabbitTls::* field,
                                         RabbitAddress& address);

template <typename Options, std::string Options::* kField>
Result<void> set_text(std::string_view value, Options& options) {
  options.*kField = value;
  return {};
}
template <typename Options, std::string RabbitTls::* kField>
Result<void> set_tls(std::string_view value, Options& options) {
  return read_tls_file(value, kField, options);
}
template <typename Options>
Result<void> set_heartbeat(std::string_view value, Options& options) {
  return read_heartbeat(value, options);
}
template <typename Options>
Result<void> set_password_file(std::string_view value, Options& options) {
  return read_password_file(value, options);
}

/// `rest` is the part after amqp: or amqps:; `known` are the options that the caller accepts.
template <typename Options>
[[nodiscard]] Result<Options> read_url(std::string_view scheme, std::string_view rest,
                                       std::span<const base::UrlOption<Options>> known) {
  const base::BodyAndQuery parts = base::split_query(rest);
  Options options;
  const bool tls = scheme == "amqps";
  if (tls) options.tls.emplace();
  auto read = read_broker(parts.body, tls ? 5671 : 5672, options);
  if (read) read = base::parse_options<Options>(parts.query, scheme, known, options);
  if (read && options.tls && options.tls->certificate_file.empty() != options.tls->key_file.empty())
    read = base::invalid_url("cert and key go together");
  if (read) return options;
  if (parts.query.find('@') != std::string_view::npos) return base::misplaced_login();
  return read.error();
}

}  // namespace tarry::net::rabbit
