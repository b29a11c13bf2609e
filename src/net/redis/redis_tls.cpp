#include "net/redis/redis_tls.h"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "base/text.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;

class RedisTlsStream final : public RedisStream {
 public:
  RedisTlsStream(asio::io_context& io, const RedisOptions& options) : RedisStream(io, options) {}

  void read_some(asio::mutable_buffer into, OnBytes done) override {
    tls_->async_read_some(into, std::move(done));
  }
  void write(asio::const_buffer bytes, OnBytes done) override {
    asio::async_write(*tls_, bytes, std::move(done));
  }
  // False, because the kernel gets TLS records, and may have sent a part of one when the write
  // fails.
  [[nodiscard]] bool counts_written() const noexcept override { return false; }

 private:
  void handshake(OnConnected done) override {
    Result<void> ready = set_up();
    if (!ready) {
      done(std::move(ready));
      return;
    }
    tls_->async_handshake(asio::ssl::stream_base::client,
                          [this, done = std::move(done)](const SystemError& error) mutable {
                            done(error ? Result<void>(handshake_error(error)) : Result<void>());
                          });
  }

  Result<void> set_up() {
    SystemError error;
    context_.emplace(asio::ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context_->native_handle(), TLS1_2_VERSION);
    const RedisTls& tls = *options_.tls;
    if (tls.ca_file.empty()) {
      context_->set_default_verify_paths(error);
      if (error) return refused("the system's certificates cannot be read: " + error.message());
    } else if (context_->load_verify_file(tls.ca_file, error); error) {
      return unreadable("CA file", tls.ca_file, error);
    }
    if (!tls.certificate_file.empty()) {
      if (context_->use_certificate_chain_file(tls.certificate_file, error); error) {
        return unreadable("certificate file", tls.certificate_file, error);
      }
      const std::string& key = tls.key_file.empty() ? tls.certificate_file : tls.key_file;
      if (context_->use_private_key_file(key, asio::ssl::context::pem, error); error) {
        return unreadable("key file", key, error);
      }
    }
    context_->set_verify_mode(asio::ssl::verify_peer, error);
    tls_.emplace(socket_, *context_);
    return expect_name();
  }

  Result<void> expect_name() {
    SSL* const ssl = tls_->native_handle();
    SystemError no_address;
    asio::ip::make_address(name(), no_address);
    if (!no_address) {
      if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name().c_str()) == 1) return {};
    } else {
      SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
      if (SSL_set1_host(ssl, name().c_str()) == 1 &&
          SSL_set_tlsext_host_name(ssl, name().c_str()) == 1) {
        return {};
      }
    }
    return refused("the server name " + base::quoted(name()) + " cannot be used");
  }

  [[nodiscard]] const std::string& name() const {
    return options_.tls->server_name.empty() ? options_.host : options_.tls->server_name;
  }

  [[nodiscard]] Error handshake_error(const SystemError& error) {
    const long verdict = SSL_get_verify_result(tls_->native_handle());
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
      return refused("its certificate is not for " + base::quoted(name()));
    }
    if (verdict != X509_V_OK) {
      return refused(std::string("its certificate is not trusted: ") +
                     X509_verify_cert_error_string(verdict));
    }
    // A server without TLS will not have it at the next attempt either. But if the connection
    // broke, the next one may work.
    Error failed = refused("the TLS handshake failed: " + error.message());
    if (error.category() != asio::error::get_ssl_category()) {
      failed.code = ErrorCode::unavailable;
    }
    return failed;
  }

  [[nodiscard]] Error unreadable(std::string_view what, std::string_view path,
                                 const SystemError& error) const {
    return refused("the " + std::string(what) + " " + base::quoted(path, 256) +
                   " cannot be used: " + error.message());
  }
  [[nodiscard]] Error refused(const std::string& why) const {
    return {ErrorCode::invalid_argument, "no TLS with " + redis_title(options_) + ": " + why};
  }

  std::optional<asio::ssl::context> context_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
};

}  // namespace

std::unique_ptr<RedisStream> make_redis_tls_stream(asio::io_context& io,
                                                   const RedisOptions& options) {
  return std::make_unique<RedisTlsStream>(io, options);
}

}  // namespace tarry::net
