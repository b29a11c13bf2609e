#include "harness/must.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tarry::bench {

void give_up(std::string_view what, std::string_view why) {
  std::fprintf(stderr, "bench: %s: %s\n", std::string(what).c_str(), std::string(why).c_str());
  std::exit(3);
}

}  // namespace tarry::bench
