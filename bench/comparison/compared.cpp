#include "designs/compared.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/wall.h"

namespace tarry::bench {

std::unique_ptr<Claimed> Compared::await(std::size_t max, std::int64_t most_ms) {
  const std::int64_t end = now_ms() + most_ms;
  for (;;) {
    auto claimed = claim(max);
    const std::int64_t left = end - now_ms();
    if (claimed->size() > 0 || left <= 0) return claimed;
    rest(left);
  }
}

void Compared::sleep(std::int64_t period_ms, std::int64_t most_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(period_ms, most_ms)));
}

}  // namespace tarry::bench
