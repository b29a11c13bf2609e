#include "relay/sinks/webhook/webhook_target.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>

#include <chrono>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "net/tls/tls_foreign.h"
#include "relay/sinks/webhook/public_address.h"

namespace tarry::relay {
namespace {

struct CurlUrlFree {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};

std::string url_part(CURLU* url, CURLUPart part, unsigned int flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::string out(text);
  curl_free(text);
  return out;
}

Error bad_webhook(std::string message) {
  return {ErrorCode::invalid_argument, "webhook: " + std::move(message)};
}

/// The addresses of a host that no name server is asked for: localhost and addresses in numbers.
std::vector<sockaddr_storage> known_addresses(const std::string& host) {
  if (base::equals_ignoring_case(host, "localhost") ||
      base::equals_ignoring_case(host, "localhost.")) {
    return {known_addresses("127.0.0.1").front(), known_addresses("::1").front()};
  }
  sockaddr_storage address{};
  auto& in = reinterpret_cast<sockaddr_in&>(address);
  auto& in6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, host.c_str(), &in.sin_addr) == 1) {
    address.ss_family = AF_INET;
  } else if (::inet_pton(AF_INET6, host.c_str(), &in6.sin6_addr) == 1) {
    address.ss_family = AF_INET6;
  } else {
    return {};
  }
  return {address};
}

/// Refuses a host that is known not to be permitted.
Result<void> check_host(const AllowList& allow, const std::string& host) {
  if (allow.permits_host(host)) return {};
  const std::vector<sockaddr_storage> addresses = known_addresses(host);
  if (addresses.empty()) {
    if (allow.has_only_names()) return bad_webhook(allow.refusal(host));
    return {};
  }
  const auto plain = [](const sockaddr_storage& address) -> const sockaddr& {
    return reinterpret_cast<const sockaddr&>(address);
  };
  for (const sockaddr_storage& address : addresses) {
    if (allow.permits(plain(address))) return {};
  }
  return bad_webhook(allow.refusal(host, address_text(plain(addresses.front()))));
}

Result<WebhookTarget> read_target(const WebhookOptions& options) {
  const std::unique_ptr<CURLU, CurlUrlFree> url(curl_url());
  if (!url) throw std::bad_alloc();
  const CURLUcode set = curl_url_set(url.get(), CURLUPART_URL, options.url.c_str(), 0);
  if (set != CURLUE_OK)
    return bad_webhook(std::string("the URL is none: ") + curl_url_strerror(set));
  const std::string scheme = url_part(url.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    return bad_webhook("scheme " + base::quoted(scheme) + " must be http or https");
  }
  if (!url_part(url.get(), CURLUPART_USER).empty() ||
      !url_part(url.get(), CURLUPART_PASSWORD).empty()) {
    return bad_webhook("the URL names a user; what the receiver asks for goes into token_file");
  }
  // libcurl has written every form of an IPv4 address, such as 2130706433, as 127.0.0.1.
  const std::string in_url = url_part(url.get(), CURLUPART_HOST);
  const bool has_brackets = in_url.starts_with('[') && in_url.ends_with(']');
  std::string host = has_brackets ? in_url.substr(1, in_url.size() - 2) : in_url;
  if (auto permitted = check_host(options.allow, host); !permitted) return permitted.error();
  const std::string zone = url_part(url.get(), CURLUPART_ZONEID);
  const std::string authority = zone.empty() ? in_url : "[" + host + "%25" + zone + "]";
  const std::string port = url_part(url.get(), CURLUPART_PORT);
  const std::string query = url_part(url.get(), CURLUPART_QUERY);
  const bool permitted = options.allow.permits_host(host);
  return WebhookTarget{std::move(host), permitted,
                       scheme + "://" + authority + (port.empty() ? "" : ":" + port),
                       url_part(url.get(), CURLUPART_PATH) + (query.empty() ? "" : "?" + query)};
}

Result<void> check_files(const WebhookOptions& options, bool has_tls) {
  const net::TlsOptions files{options.ca_file, options.certificate_file, options.key_file, {}};
  if (files.certificate_file.empty() != files.key_file.empty()) {
    return bad_webhook("options cert and key go together; one of them is not given");
  }
  if (files.certificate_file.empty() && files.ca_file.empty()) return {};
  if (!has_tls) return bad_webhook("options ca, cert and key are for https:, and the URL is http:");
  if (const auto good = net::check_tls_files(files); !good)
    return bad_webhook(good.error().message);
  return {};
}

Result<void> check_numbers(const WebhookOptions& options) {
  if (options.connections < 1 || options.connections > kMaxWebhookConnections) {
    return bad_webhook("connections " + std::to_string(options.connections) +
                       " must be from 1 to " + std::to_string(kMaxWebhookConnections));
  }
  for (const Millis time : {options.connect_timeout, options.timeout}) {
    if (time < Millis(1) || time > std::chrono::hours(1)) {
      return bad_webhook("a time-out of " + base::format_duration_ms(time.count()) +
                         " must be from 1ms to 1h");
    }
  }
  if (!options.secret.empty() && options.secret.size() < kMinWebhookSecret) {
    return bad_webhook("a secret of " + std::to_string(options.secret.size()) +
                       " bytes can be guessed; it needs " + std::to_string(kMinWebhookSecret));
  }
  return {};
}

}  // namespace

Result<WebhookTarget> check_webhook(const WebhookOptions& options) {
  if (auto good = check_numbers(options); !good) return good.error();
  auto target = read_target(options);
  if (!target) return target;
  const bool has_tls = target->origin.starts_with("https:");
  if (auto good = check_files(options, has_tls); !good) return good.error();
  return target;
}

}  // namespace tarry::relay
