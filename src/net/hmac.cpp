#include "net/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/assert.h"
#include "base/text/hex.h"

namespace tarry::net {

std::string hmac_sha256(std::string_view secret, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const bool good = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes,
                         text.size(), digest.data(), &size) != nullptr;
  TARRY_ASSERT(good && size == 32);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string hmac_sha256_hex(std::string_view secret, std::string_view text) {
  return base::hex_digits(hmac_sha256(secret, text));
}

}  // namespace tarry::net
