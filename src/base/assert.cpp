#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace tarry::base {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "tarry: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace tarry::base
