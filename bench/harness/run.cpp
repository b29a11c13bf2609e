#include "harness/run.h"

#include <cstdio>

namespace tarry::bench {

void Run::note(std::string_view text) const {
  std::fprintf(stderr, "    %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace tarry::bench
