#include "harness/run.h"

#include <cstdio>

namespace tarry::bench {

void Run::begin(std::string_view id) const {
  std::fprintf(stderr, "measuring %.*s\n", static_cast<int>(id.size()), id.data());
}

void Run::note(std::string_view text) const {
  std::fprintf(stderr, "    %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace tarry::bench
