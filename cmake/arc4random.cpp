// std::random_device of a statically linked libstdc++ calls arc4random where the machine that built
// it had one: glibc 2.36. A portable program brings its own, for glibc 2.34.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  // So few bytes come whole, and nothing interrupts it; without an entropy source, no id is safe.
  if (::getentropy(&value, sizeof(value)) != 0) std::abort();
  return value;
}
