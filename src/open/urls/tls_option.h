// The options ca, cert, key and name, which URLs of several engines have for TLS.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <string_view>

#include <tarry/result.h>

#include "base/text/url_parts.h"

namespace tarry::detail {

/// Errors: `invalid_argument`, which names the option.
template <typename Url>
inline constexpr std::array kTlsOptions = {
    base::UrlOption<Url>{"ca",
                         [](std::string_view value, Url& url) {
                           return base::text_option("ca", value, url.ca_file);
                         }},
    base::UrlOption<Url>{"cert",
                         [](std::string_view value, Url& url) {
                           return base::text_option("cert", value, url.certificate_file);
                         }},
    base::UrlOption<Url>{"key",
                         [](std::string_view value, Url& url) {
                           return base::text_option("key", value, url.key_file);
                         }},
    base::UrlOption<Url>{"name",
                         [](std::string_view value, Url& url) {
                           return base::text_option("name", value, url.server_name);
                         }},
};

/// Error: `invalid_argument` if only one of cert and key is given.
template <typename Url>
[[nodiscard]] Result<void> check_tls_options(const Url& url) {
  if (url.certificate_file.empty() == url.key_file.empty()) return {};
  return base::invalid_url("options cert and key go together; one of them is not given");
}

}  // namespace tarry::detail
