#include "harness/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

#include "harness/must.h"

namespace tarry::bench {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const noexcept { X509_EXTENSION_free(extension); }
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

void extend(X509* certificate, int kind, const char* value) {
  const std::unique_ptr<X509_EXTENSION, Free> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  must(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1,
       "a certificate is made");
}

std::unique_ptr<X509, Free> sign(EVP_PKEY* key) {
  constexpr long kDay = 24L * 60 * 60;
  std::unique_ptr<X509, Free> certificate(X509_new());
  X509_set_version(certificate.get(), 2);  // that is version 3
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDay);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("bench"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  extend(certificate.get(), NID_subject_alt_name, "IP:127.0.0.1");
  must(X509_sign(certificate.get(), key, EVP_sha256()) > 0, "a certificate is signed");
  return certificate;
}

template <typename Write>
void write_file(const std::string& path, Write write) {
  const std::unique_ptr<std::FILE, Free> file(std::fopen(path.c_str(), "w"));
  must(file != nullptr && write(file.get()) == 1, "the file " + path + " is written");
}

}  // namespace

OwnCertificate::OwnCertificate(const std::string& directory)
    : certificate_(directory + "/certificate.pem"), key_(directory + "/key.pem") {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
  must(key != nullptr, "a key is made");
  const auto certificate = sign(key.get());
  write_file(certificate_,
             [&](std::FILE* file) { return PEM_write_X509(file, certificate.get()); });
  write_file(key_, [&](std::FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace tarry::bench
