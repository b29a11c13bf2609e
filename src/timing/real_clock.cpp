#include "timing/real_clock.h"

#include <fstream>
#include <random>
#include <string>

#include <time.h>

#include "base/assert.h"
#include "base/hash.h"

namespace tarry::timing {
namespace {

// Written to disk beside boottimes, so this seed never changes.
constexpr std::uint64_t kBootIdSeed = 0x7461727279;

std::int64_t read_ms(clockid_t which) {
  timespec time{};
  TARRY_ASSERT(clock_gettime(which, &time) == 0);
  // Both parts are never negative, so dividing rounds down.
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

std::uint64_t read_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  if (std::getline(file, text) && !text.empty()) return base::keyed_hash(text, kBootIdSeed);
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

RealClock::RealClock() : boot_id_(read_boot_id()) {}

std::chrono::nanoseconds RealClock::monotonic() const {
  timespec time{};
  TARRY_ASSERT(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Instant RealClock::now() const { return {read_ms(CLOCK_REALTIME), read_ms(CLOCK_BOOTTIME)}; }

}  // namespace tarry::timing
