#include "server/listening/tls_context.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "server/listening/pem_file.h"

namespace tarry::listening {
namespace {

constexpr const char* kCiphers12 = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::string_view kSessionContext = "tarry";

std::string text_of(const X509_NAME* name) {
  std::string text;
  BIO* const memory = BIO_new(BIO_s_mem());
  if (memory == nullptr) return text;
  X509_NAME_print_ex(memory, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory, &bytes);
  if (size > 0) text.assign(bytes, static_cast<std::size_t>(size));
  BIO_free(memory);
  return text;
}

std::string subject_of(const X509* certificate) {
  return text_of(X509_get_subject_name(certificate));
}

std::string text_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "?";
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

bool is_self_signed(X509* certificate) { return X509_self_signed(certificate, 1) == 1; }

bool is_issued_by(X509* certificate, X509* issuer) {
  return X509_check_issued(issuer, certificate) == X509_V_OK &&
         X509_verify(certificate, X509_get0_pubkey(issuer)) == 1;
}

/// Whether the system's authorities have the certificate's issuer.
bool system_knows_issuer(X509* certificate) {
  X509_STORE* const store = X509_STORE_new();
  X509_STORE_CTX* const search = X509_STORE_CTX_new();
  X509* issuer = nullptr;
  const bool found = store != nullptr && search != nullptr &&
                     X509_STORE_set_default_paths(store) == 1 &&
                     X509_STORE_CTX_init(search, store, certificate, nullptr) == 1 &&
                     X509_STORE_CTX_get1_issuer(&issuer, search, certificate) == 1;
  X509_free(issuer);
  X509_STORE_CTX_free(search);
  X509_STORE_free(store);
  ERR_clear_error();
  return found;
}

Result<void> check_dates(const PemFile& file, const X509* certificate, bool is_first) {
  const std::string whose =
      is_first ? "" : ": the certificate of " + base::quoted(subject_of(certificate));
  const ASN1_TIME* const from = X509_get0_notBefore(certificate);
  const ASN1_TIME* const until = X509_get0_notAfter(certificate);
  if (X509_cmp_current_time(from) > 0) {
    return file.wrong(whose + " is not valid yet: it will be from " + text_of(from));
  }
  if (X509_cmp_current_time(until) < 0) {
    return file.wrong(whose + " has expired: it was valid until " + text_of(until));
  }
  return {};
}

/// The certificates that the server sends: the first of `all` and its issuers, in their order,
/// without a self-signed authority, which a client must have already.
Result<std::vector<X509*>> chain_of(const PemFile& file, const std::vector<Certificate>& all) {
  X509* last = all.front().get();
  std::vector<X509*> chain{last};
  while (!is_self_signed(last)) {
    const auto issuer = std::ranges::find_if(all, [&](const Certificate& one) {
      return std::ranges::find(chain, one.get()) == chain.end() && is_issued_by(last, one.get());
    });
    if (issuer == all.end()) {
      if (system_knows_issuer(last)) return chain;
      return file.wrong(" lacks the certificate of the issuer " +
                        base::quoted(text_of(X509_get_issuer_name(last))) +
                        ": append it to the file");
    }
    last = issuer->get();
    if (const auto good = check_dates(file, last, false); !good) return good.error();
    if (!is_self_signed(last)) chain.push_back(last);
  }
  ERR_clear_error();
  return chain;
}

Result<void> use_certificate(SSL_CTX* context, const PemFile& file,
                             const std::vector<Certificate>& all) {
  X509* const first = all.front().get();
  if (const auto good = check_dates(file, first, true); !good) return good.error();
  if (X509_check_purpose(first, X509_PURPOSE_SSL_SERVER, 0) != 1) {
    return file.wrong(": the certificate of " + base::quoted(subject_of(first)) +
                      " is not one for servers");
  }
  const auto chain = chain_of(file, all);
  if (!chain) return chain.error();
  bool used = SSL_CTX_use_certificate(context, first) == 1;
  for (std::size_t i = 1; used && i < chain->size(); ++i) {
    used = SSL_CTX_add1_chain_cert(context, (*chain)[i]) == 1;
  }
  if (!used) return file.wrong(" cannot be used: " + openssl_reason());
  return {};
}

Result<void> use_key(SSL_CTX* context, const TlsFiles& files, const PemFile& file, X509* first) {
  const auto key = file.key(files.passphrase_file);
  if (!key) return key.error();
  if (X509_check_private_key(first, key->get()) != 1) {
    return file.wrong(": the key does not match the first certificate in tls.cert " +
                      base::quoted(files.certificate, 256));
  }
  if (SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    return file.wrong(" cannot be used: " + openssl_reason());
  }
  return {};
}

/// Clients need a certificate that one of these has issued.
Result<void> demand_client_certificates(SSL_CTX* context, const PemFile& file) {
  const auto authorities = file.certificates();
  if (!authorities) return authorities.error();
  for (const Certificate& authority : *authorities) {
    if (const auto good = check_dates(file, authority.get(), false); !good) return good.error();
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return file.wrong(" cannot be used: " + openssl_reason());
    }
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

TlsContext make_context() {
  TlsContext context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return context;
  SSL_CTX* const raw = context.get();
  SSL_CTX_set_security_level(raw, 2);
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(raw, 0);
  SSL_CTX_set_cipher_list(raw, kCiphers12);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                               SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                               // Requests state their length, so a cut one is noticed anyway.
                               SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_read_ahead(raw, 1);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 1);
  SSL_CTX_set_session_id_context(raw,
                                 reinterpret_cast<const unsigned char*>(kSessionContext.data()),
                                 static_cast<unsigned>(kSessionContext.size()));
  return context;
}

std::string digest_of(const std::vector<const PemFile*>& files) {
  std::string all;
  for (const PemFile* file : files) {
    all += std::to_string(file->text().size()) + ":" + file->text();
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(all.data(), all.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return {digest.begin(), digest.begin() + size};
}

}  // namespace

Result<Tls> load_tls(const TlsFiles& files) {
  const auto certificate_file = PemFile::read("tls.cert", files.certificate);
  if (!certificate_file) return certificate_file.error();
  const auto certificates = certificate_file->certificates();
  if (!certificates) return certificates.error();
  const bool is_apart = !files.key.empty();
  const auto key_file = is_apart ? PemFile::read("tls.key", files.key) : certificate_file;
  if (!key_file) return key_file.error();
  std::vector<const PemFile*> read{&*certificate_file, &*key_file};

  Tls tls;
  tls.context = make_context();
  if (!tls.context) return Error{ErrorCode::io_error, "TLS cannot be set up: " + openssl_reason()};
  X509* const first = certificates->front().get();
  if (auto good = use_key(tls.context.get(), files, *key_file, first); !good) return good.error();
  if (auto good = use_certificate(tls.context.get(), *certificate_file, *certificates); !good) {
    return good.error();
  }
  std::optional<PemFile> client_ca;
  if (!files.client_ca.empty()) {
    auto file = PemFile::read("tls.client_ca", files.client_ca);
    if (!file) return file.error();
    client_ca = std::move(*file);
    if (auto good = demand_client_certificates(tls.context.get(), *client_ca); !good) {
      return good.error();
    }
    read.push_back(&*client_ca);
  }
  tls.digest = digest_of(read);
  tls.subject = subject_of(first);
  tls.valid_until = text_of(X509_get0_notAfter(first));
  return tls;
}

}  // namespace tarry::listening
