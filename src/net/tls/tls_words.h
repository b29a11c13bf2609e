// What went wrong with TLS, in one plain line. The lines do not name the connection.
//
// Pure functions.
#pragma once

#include <openssl/x509_vfy.h>

#include <optional>
#include <string>

#include <tarry/result.h>

#include "net/tls/tls_trust.h"

namespace tarry::net {

/// Why `check`, which has failed, refused the server's certificate. `unavailable` if it expired or
/// is not valid yet, otherwise `invalid_argument`.
[[nodiscard]] Error certificate_error(X509_STORE_CTX& check, const TlsTrust& trust);

// `code`: an error code of OpenSSL.

/// `permission_denied` if the code is a server's alert that refuses this client's certificate,
/// `given` (a file), or demands one. `asked`: whether the server has asked for one.
[[nodiscard]] std::optional<Error> refused_certificate(int code, bool asked,
                                                       const std::string& given);
/// Whether the server's bytes are not TLS.
[[nodiscard]] bool is_no_tls(int code) noexcept;
/// Why the handshake failed. `name`: the server's.
[[nodiscard]] std::string handshake_words(int code, const std::string& name);

}  // namespace tarry::net
