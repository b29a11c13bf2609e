// OwnCertificate: a key and a certificate for 127.0.0.1 that it signs itself, as PEM files, for a
// server over TLS and for the clients that trust it.
//
// Thread safety: none needed.
#pragma once

#include <string>

namespace tarry::bench {

class OwnCertificate {
 public:
  /// Writes both files into the directory, which must exist. The key is one of P-256.
  explicit OwnCertificate(const std::string& directory);

  [[nodiscard]] const std::string& certificate() const noexcept { return certificate_; }
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  std::string certificate_;
  std::string key_;
};

}  // namespace tarry::bench
