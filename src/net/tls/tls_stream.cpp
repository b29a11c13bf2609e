#include "net/tls/tls_stream.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/verify_context.hpp>

#include "base/text/text.h"
#include "net/tls/tls_words.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;

}  // namespace

Result<std::unique_ptr<TlsStream>> TlsStream::make(Socket& socket,
                                                   std::shared_ptr<TlsTrust> trust) {
  auto stream = std::make_unique<TlsStream>(socket, std::move(trust));
  if (stream->expect_name()) return stream;
  ERR_clear_error();
  return Unexpected(
      ErrorCode::invalid_argument,
      "the server name " + base::quoted(stream->trust_->name(), 256) + " cannot be used");
}

TlsStream::TlsStream(Socket& socket, std::shared_ptr<TlsTrust> trust)
    : trust_(std::move(trust)), stream_(socket, trust_->context()) {
  SystemError ignored;
  stream_.set_verify_callback(
      [this](bool good, asio::ssl::verify_context& check) {
        if (!good) check_failure_ = certificate_error(*check.native_handle(), *trust_);
        return good;
      },
      ignored);
  // Called if the server asks for a certificate.
  SSL_set_cert_cb(
      ssl(),
      [](SSL*, void* self) {
        static_cast<TlsStream*>(self)->asked_for_certificate_ = true;
        return 1;
      },
      this);
  if (const TlsTrust::Session session = trust_->session()) SSL_set_session(ssl(), session.get());
}

bool TlsStream::expect_name() {
  const std::string& name = trust_->name();
  SystemError no_address;
  asio::ip::make_address(name, no_address);
  if (!no_address) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl()), name.c_str()) == 1;
  }
  SSL_set_hostflags(ssl(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl(), name.c_str()) == 1 &&
         SSL_set_tlsext_host_name(ssl(), name.c_str()) == 1;
}

void TlsStream::handshake(OnHandshake done) {
  stream_.async_handshake(asio::ssl::stream_base::client,
                          [this, done = std::move(done)](const SystemError& error) mutable {
                            done(error ? Result<void>(handshake_error(error)) : Result<void>());
                          });
}

void TlsStream::read_some(asio::mutable_buffer into, OnBytes done) {
  stream_.async_read_some(into, std::move(done));
}

void TlsStream::end() { SSL_set_shutdown(ssl(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); }

std::optional<Error> TlsStream::refusal(const SystemError& error) const {
  if (error.category() != asio::error::get_ssl_category()) return std::nullopt;
  return refused_certificate(error.value(), asked_for_certificate_,
                             trust_->options().certificate_file);
}

std::string TlsStream::suspicion() const {
  if (!asked_for_certificate_) return {};
  const std::string& given = trust_->options().certificate_file;
  if (given.empty()) {
    return "; it had asked for a client's certificate, which cert=FILE and key=FILE give";
  }
  return "; perhaps it refuses the client's certificate " + base::quoted(given, 256);
}

Error TlsStream::handshake_error(const SystemError& error) {
  if (check_failure_) return *check_failure_;
  if (auto refused = refusal(error)) return *std::move(refused);
  if (error.category() == asio::error::get_ssl_category()) {
    server_has_no_tls_ = is_no_tls(error.value());
    return {ErrorCode::invalid_argument, handshake_words(error.value(), trust_->name())};
  }
  const bool ended = error == asio::error::eof || error == asio::error::connection_reset ||
                     error == asio::error::broken_pipe ||
                     error == asio::ssl::error::stream_truncated;
  if (!ended) return {ErrorCode::unavailable, "the handshake failed: " + error.message()};
  return {ErrorCode::unavailable,
          "the server ended the connection during the handshake" +
              (asked_for_certificate_ ? suspicion() : "; perhaps it speaks no TLS")};
}

}  // namespace tarry::net
