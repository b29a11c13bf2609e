#include "net/tls/tls_trust.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/asio/ssl/error.hpp>

#include "base/text/text.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// A server usually gives two sessions per handshake in full, and one when a session is resumed.
constexpr std::size_t kMostSessions = 8;

// Where the context keeps a pointer to its TlsTrust.
int trust_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

std::string named(std::string_view what, const std::string& path) {
  return "the " + std::string(what) + " file " + base::quoted(path, 256);
}

// OpenSSL's own words for a missing file say only that something is wrong.
Result<void> check_readable(std::string_view what, const std::string& path) {
  const auto wrong = [&](const std::string& why) {
    return Unexpected(ErrorCode::invalid_argument, named(what, path) + " cannot be read: " + why);
  };
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0) {
    return wrong(std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) return wrong("it is a directory");
  return {};
}

bool is_reason(const error_code& error, int library, int reason) {
  const auto code = static_cast<unsigned long>(error.value());
  return error.category() == asio::error::get_ssl_category() && ERR_GET_LIB(code) == library &&
         ERR_GET_REASON(code) == reason;
}

Unexpected unusable(std::string_view what, const std::string& path, std::string_view holds,
                    const error_code& error) {
  std::string why = " cannot be used: " + error.message();
  if (is_reason(error, ERR_LIB_PEM, PEM_R_NO_START_LINE) ||
      is_reason(error, ERR_LIB_X509, X509_R_NO_CERTIFICATE_FOUND) ||
      is_reason(error, ERR_LIB_X509, X509_R_NO_CERTIFICATE_OR_CRL_FOUND)) {
    why = " holds no " + std::string(holds) + " in PEM form";
  }
  // OpenSSL looks for keys of every kind, and says the same if it finds none or one that it does
  // not know.
  if (is_reason(error, ERR_LIB_OSSL_DECODER, ERR_R_UNSUPPORTED)) {
    why = " holds no usable " + std::string(holds) + " in PEM form";
  }
  return Unexpected(ErrorCode::invalid_argument, named(what, path) + why);
}

}  // namespace

TlsTrust::TlsTrust(const TlsOptions& options, const std::string& name)
    : options_(options), name_(name), context_(asio::ssl::context::tls_client) {
  SSL_CTX* const context = context_.native_handle();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_ex_data(context, trust_index(), this);
  SSL_CTX_sess_set_new_cb(context, [](SSL* ssl, SSL_SESSION* session) {
    auto* trust = static_cast<TlsTrust*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), trust_index()));
    trust->keep(Session(session));
    return 1;  // the session is ours
  });
}

Result<std::shared_ptr<TlsTrust>> TlsTrust::load(const TlsOptions& options,
                                                 const std::string& name) {
  auto trust = std::make_shared<TlsTrust>(options, name);
  error_code error;
  trust->context_.set_verify_mode(asio::ssl::verify_peer, error);
  if (auto used = trust->use_authorities(); !used) return std::move(used).error();
  if (options.certificate_file.empty()) return trust;
  if (auto used = trust->use_certificate(); !used) return std::move(used).error();
  if (auto used = trust->use_key(); !used) return std::move(used).error();
  return trust;
}

Result<void> TlsTrust::use_authorities() {
  error_code error;
  if (options_.ca_file.empty()) {
    context_.set_default_verify_paths(error);
    if (!error) return {};
    return Unexpected(ErrorCode::invalid_argument,
                      "the system's authorities cannot be read: " + error.message());
  }
  if (auto readable = check_readable("CA", options_.ca_file); !readable) return readable;
  context_.load_verify_file(options_.ca_file, error);
  if (error) return unusable("CA", options_.ca_file, "certificate", error);
  return {};
}

Result<void> TlsTrust::use_certificate() {
  const std::string& path = options_.certificate_file;
  if (auto readable = check_readable("certificate", path); !readable) return readable;
  error_code error;
  context_.use_certificate_chain_file(path, error);
  if (error) return unusable("certificate", path, "certificate", error);
  return {};
}

Result<void> TlsTrust::use_key() {
  const std::string& path =
      options_.key_file.empty() ? options_.certificate_file : options_.key_file;
  if (auto readable = check_readable("key", path); !readable) return readable;
  // Without this, OpenSSL would ask for the passphrase on the terminal.
  bool is_encrypted = false;
  error_code error;
  context_.set_password_callback(
      [&](std::size_t, asio::ssl::context::password_purpose) {
        is_encrypted = true;
        return std::string();
      },
      error);
  context_.use_private_key_file(path, asio::ssl::context::pem, error);
  error_code ignored;
  context_.set_password_callback(
      [](std::size_t, asio::ssl::context::password_purpose) { return std::string(); }, ignored);
  if (is_encrypted) {
    return Unexpected(ErrorCode::invalid_argument,
                      named("key", path) +
                          " is encrypted with a passphrase, which cannot be given: store the key "
                          "without one");
  }
  if (is_reason(error, ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH) ||
      is_reason(error, ERR_LIB_X509, X509_R_KEY_TYPE_MISMATCH) ||
      (!error && SSL_CTX_check_private_key(context_.native_handle()) != 1)) {
    ERR_clear_error();
    return Unexpected(ErrorCode::invalid_argument,
                      named("key", path) + " does not belong to the certificate in " +
                          base::quoted(options_.certificate_file, 256));
  }
  if (error) return unusable("key", path, "private key", error);
  return {};
}

void TlsTrust::keep(Session session) {
  if (sessions_.size() == kMostSessions) sessions_.erase(sessions_.begin());
  sessions_.push_back(std::move(session));
}

TlsTrust::Session TlsTrust::session() {
  while (!sessions_.empty()) {
    Session newest = std::move(sessions_.back());
    sessions_.pop_back();
    if (SSL_SESSION_is_resumable(newest.get()) != 1) continue;
    if (SSL_SESSION_get_protocol_version(newest.get()) < TLS1_3_VERSION) {
      SSL_SESSION_up_ref(newest.get());
      sessions_.emplace_back(newest.get());
    }
    return newest;
  }
  return nullptr;
}

}  // namespace tarry::net
