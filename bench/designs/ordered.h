// What delay queues on an ordered key-value store have in common: keys by (time, id), and what a
// claim has taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "designs/design.h"
#include "harness/wall.h"

namespace tarry::bench {

inline constexpr std::int64_t kLeaseMs = 30'000;

/// Big-endian numbers, so that bytes sort as the numbers do.
inline void put_big(unsigned char* to, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<unsigned char>(value >> (56 - 8 * i));
}
[[nodiscard]] inline std::uint64_t big_at(const void* bytes) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | at[i];
  return value;
}

using TimedKey = std::array<unsigned char, 16>;
[[nodiscard]] inline TimedKey timed_key(std::int64_t ms, std::uint64_t id) {
  TimedKey key{};
  put_big(key.data(), static_cast<std::uint64_t>(ms));
  put_big(key.data() + 8, id);
  return key;
}

/// What a claim has taken; Key is how the design spells its keys.
template <typename Key>
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
  std::vector<Key> keys;                    // of the messages
  std::vector<std::pair<Key, Key>> leases;  // key, and due time or the message's key
};

}  // namespace tarry::bench
