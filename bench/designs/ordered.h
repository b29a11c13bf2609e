// What delay queues on an ordered key-value store have in common: keys by (time, id), and what a
// claim has taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "designs/design.h"
#include "harness/wall.h"

namespace tarry::bench {

inline constexpr std::int64_t kLeaseMs = 30'000;

/// Big-endian numbers, so that bytes sort as the numbers do.
inline void put_big(char* to, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(value >> (56 - 8 * i));
}
[[nodiscard]] inline std::uint64_t big_at(const char* bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

using TimedKey = std::array<char, 16>;
[[nodiscard]] inline TimedKey timed_key(std::int64_t ms, std::uint64_t id) {
  TimedKey key{};
  put_big(key.data(), static_cast<std::uint64_t>(ms));
  put_big(key.data() + 8, id);
  return key;
}

struct Leased final : Claimed {
  [[nodiscard]] std::size_t size() const override { return ids.size(); }
  [[nodiscard]] std::uint64_t proof() const override {
    std::uint64_t sum = 0;
    for (const std::string& payload : payloads) sum += proof_of(payload);
    return sum;
  }
  std::int64_t deadline_ms = now_ms() + kLeaseMs;
  std::vector<std::uint64_t> ids;
  std::vector<std::string> payloads;
};

}  // namespace tarry::bench
