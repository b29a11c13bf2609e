// TlsTrust: an OpenSSL context made from the files of one TlsClient, and the sessions that its
// server gave.
//
// Thread safety: none; on the io_context's thread.
//
// Invariants
//  1. Connections of this context use TLS 1.2 or later, and demand a certificate that checks.
//  2. A session is kept only if its connection's check had succeeded with these files and this
//     name, because a resumed session is not checked again.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include <tarry/result.h>

#include "net/tls/tls_options.h"

namespace tarry::net {

class TlsTrust {
 public:
  struct FreeSession {
    void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
  };
  using Session = std::unique_ptr<SSL_SESSION, FreeSession>;

  /// `name`: the server's. Error: `invalid_argument`; it names the file and says why it cannot be
  /// used.
  [[nodiscard]] static Result<std::shared_ptr<TlsTrust>> load(const TlsOptions& options,
                                                              const std::string& name);
  TlsTrust(const TlsOptions& options, const std::string& name);
  TlsTrust(const TlsTrust&) = delete;
  TlsTrust& operator=(const TlsTrust&) = delete;
  ~TlsTrust() = default;

  [[nodiscard]] boost::asio::ssl::context& context() noexcept { return context_; }
  [[nodiscard]] const TlsOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// The newest session that may be resumed, or null. Those of TLS 1.3 are given once, so that
  /// nobody can tell that two connections belong together.
  [[nodiscard]] Session session();

 private:
  Result<void> use_authorities();
  Result<void> use_certificate();
  Result<void> use_key();
  void keep(Session session);

  const TlsOptions options_;
  const std::string name_;
  boost::asio::ssl::context context_;
  std::vector<Session> sessions_;  // the newest last
};

}  // namespace tarry::net
