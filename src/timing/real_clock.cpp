#include "timing/real_clock.h"

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include <time.h>

#include "base/assert.h"
#include "base/hash.h"

namespace tarry::timing {
namespace {

// Ids made with this seed are on disks, beside boottimes. So the seed never changes.
constexpr std::uint64_t kBootIdSeed = 0x7461727279;

std::int64_t read_ms(clockid_t which) {
  timespec time{};
  TARRY_ASSERT(clock_gettime(which, &time) == 0);
  // Neither part is ever negative, so the division rounds down.
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

// Reads both clocks together. If this thread is halted between its two readings, they differ as if
// the wall clock had stepped; then it reads both again.
Instant RealClock::read_together() {
  constexpr int kTries = 10;
  Instant read;
  for (int tried = 0; tried < kTries; ++tried) {
    const std::int64_t before = read_ms(CLOCK_BOOTTIME);
    read = {read_ms(CLOCK_REALTIME), read_ms(CLOCK_BOOTTIME)};
    if (read.boottime_ms - before <= 1) break;
  }
  return read;
}

Instant RealClock::now() const {
  Instant read{read_ms(CLOCK_REALTIME), read_ms(CLOCK_BOOTTIME)};
  const std::int64_t offset = read.realtime_ms - read.boottime_ms;
  if (std::llabs(offset - offset_ms_.load(std::memory_order_relaxed)) > 1) {
    read = read_together();
    offset_ms_.store(read.realtime_ms - read.boottime_ms, std::memory_order_relaxed);
  }
  return read;
}

}  // namespace tarry::timing
