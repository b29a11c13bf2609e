#include "net/tls/tls_foreign.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/tls/tls_trust.h"
#include "net/tls/tls_words.h"

namespace tarry::net {

Result<void> check_tls_files(const TlsOptions& options) {
  if (const auto trust = TlsTrust::load(options, ""); !trust) return trust.error();
  return {};
}

struct TlsWatch::Hooks {
  using Held = std::shared_ptr<TlsWatch>;

  static void forget(void*, void* held, CRYPTO_EX_DATA*, int, long, void*) {
    delete static_cast<Held*>(held);
  }
  static int index() {
    static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, forget);
    return index;
  }
  static void note(const SSL* ssl, int where, int value) {
    auto* held = static_cast<Held*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), index()));
    if (held == nullptr) return;
    if (SSL_get_state(ssl) == TLS_ST_CR_CERT_REQ) (*held)->asked_ = true;
    const bool is_fatal = value >> 8 == SSL3_AL_FATAL;
    if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && is_fatal) {
      (*held)->alert_ = value & 0xff;
    }
  }
};

bool TlsWatch::knows(std::string_view library) {
  return library == std::string("OpenSSL/") + OpenSSL_version(OPENSSL_FULL_VERSION_STRING);
}

std::shared_ptr<TlsWatch> TlsWatch::begin(void* context) {
  auto* const ssl_context = static_cast<SSL_CTX*>(context);
  auto watch = std::make_shared<TlsWatch>();
  auto held = std::make_unique<Hooks::Held>(watch);
  if (SSL_CTX_set_ex_data(ssl_context, Hooks::index(), held.get()) == 1) {
    static_cast<void>(held.release());  // the context deletes it
    SSL_CTX_set_info_callback(ssl_context, Hooks::note);
  }
  return watch;
}

void TlsWatch::look(void* ssl) {
  char byte = 0;
  static_cast<void>(SSL_peek(static_cast<SSL*>(ssl), &byte, 1));
  ERR_clear_error();
}

std::optional<std::string> TlsWatch::refusal(const std::string& given) const {
  if (alert_ == 0) return std::nullopt;
  const unsigned long code = ERR_PACK(ERR_LIB_SSL, 0, SSL_AD_REASON_OFFSET + alert_);
  const auto refused = refused_certificate(static_cast<int>(code), asked_, given);
  if (!refused) return std::nullopt;
  return refused->message;
}

}  // namespace tarry::net
