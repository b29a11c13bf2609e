// What a URL says about TLS, for net.
//
// Thread safety: a pure function.
#pragma once

#include "net/tls/tls_options.h"

namespace tarry::detail {

/// `url`: one with the options of tls_option.h.
template <typename Url>
[[nodiscard]] net::TlsOptions tls_of(const Url& url) {
  return {url.ca_file, url.certificate_file, url.key_file, url.server_name};
}

}  // namespace tarry::detail
