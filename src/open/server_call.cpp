#include "open/server_call.h"

#include <utility>
#include <variant>

#include "base/text/text.h"
#include "net/http/http_once.h"
#include "open/urls/server_token.h"
#include "open/urls/store_url.h"
#include "open/urls/tls_of.h"

namespace tarry::tools {

bool is_server_url(std::string_view url) {
  const auto parsed = detail::parse_store_url(url);
  return parsed && std::holds_alternative<detail::RemoteUrl>(*parsed);
}

Result<ServerAnswer> call_server(std::string_view url, std::string_view method, std::string target,
                                 std::string json) {
  const auto parsed = detail::parse_store_url(url);
  if (!parsed) return parsed.error();
  const auto* server = std::get_if<detail::RemoteUrl>(&*parsed);
  if (server == nullptr) {
    return Unexpected(
        ErrorCode::invalid_argument,
        base::quoted(detail::masked_url(url)) +
            " is not a server; use http://HOST:PORT, https://HOST:PORT or http+unix:///PATH");
  }
  net::HttpClientOptions options;
  options.host = server->host;
  options.port = server->port;
  options.unix_path = server->unix_path;
  if (server->tls) options.tls = detail::tls_of(*server);
  auto token = detail::token_for(*server);
  if (!token) return std::move(token).error();
  options.token = *std::move(token);
  net::HttpCall call;
  call.method = method;
  call.target = std::move(target);
  call.content_type = json.empty() ? "" : "application/json";
  call.body = std::move(json);
  auto answer = net::http_once(std::move(options), std::move(call));
  if (auto* failure = std::get_if<net::HttpFailure>(&answer)) return std::move(failure->error);
  auto& message = std::get<net::HttpMessage>(answer);
  return ServerAnswer{message.status, std::move(message.body)};
}

}  // namespace tarry::tools
