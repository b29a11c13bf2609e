// Reads certificates and keys from PEM files.
//
// Thread safety: pure, except for reading the file.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

namespace tarry::listening {

struct FreeOpenssl {
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
using Certificate = std::unique_ptr<X509, FreeOpenssl>;
using Key = std::unique_ptr<EVP_PKEY, FreeOpenssl>;

/// A file and the setting that names it, for errors: `tls.cert "/etc/tarry.pem"`. All errors are
/// `invalid_argument`.
class PemFile {
 public:
  /// Error: the file cannot be read, is not a regular file, or is over 1 MiB.
  [[nodiscard]] static Result<PemFile> read(std::string_view setting, const std::string& path);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// All certificates, in the file's order; at least one.
  [[nodiscard]] Result<std::vector<Certificate>> certificates() const;
  /// The first private key. `passphrase_file` has the passphrase of an encrypted key; empty: there
  /// is none.
  [[nodiscard]] Result<Key> key(const std::string& passphrase_file) const;
  [[nodiscard]] Error wrong(std::string_view why) const;

 private:
  std::string name_;
  std::string text_;
};

/// OpenSSL's latest error in its own words.
[[nodiscard]] std::string openssl_reason();

}  // namespace tarry::listening
