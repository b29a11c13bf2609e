#include "net/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/assert.h"
#include "base/text/hex.h"

namespace tarry::net {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int good =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  TARRY_ASSERT(good == 1 && 2 * size == kSha256Digits);
  return base::hex_digits({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace tarry::net
