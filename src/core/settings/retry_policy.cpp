#include "core/settings/retry_policy.h"

#include <algorithm>

namespace tarry::core {
namespace {

// splitmix64's finalizer (Steele, Lea, Flood 2014): enough to spread neighbouring seeds.
std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

std::int64_t backoff_ms(const QueueSettings& settings, std::uint32_t attempt,
                        std::uint64_t seed) noexcept {
  const std::int64_t least = settings.backoff_min.count();
  const std::int64_t most = settings.backoff_max.count();
  std::int64_t full = std::min(least, most);
  for (std::uint32_t i = 1; i < attempt && full < most && full > 0; ++i) {
    full = full > most / 2 ? most : full * 2;
  }
  const std::int64_t half = full / 2;
  const auto spread = static_cast<std::uint64_t>(full - half) + 1;
  return half + static_cast<std::int64_t>(mix(seed ^ attempt) % spread);
}

}  // namespace tarry::core
