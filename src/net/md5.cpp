#include "net/md5.h"

#include <openssl/evp.h>

#include <array>

#include "base/assert.h"
#include "base/text/hex.h"

namespace tarry::net {

std::string md5_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int good = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr);
  TARRY_ASSERT(good == 1 && size == 16);
  return base::hex_digits({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace tarry::net
