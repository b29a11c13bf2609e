// The common part of delay queues on an ordered key-value store: keys by (time, id), and the
// messages of a claim.
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

/// The messages of a claim. Key is the design's type of keys.
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
  std::vector<Key> keys;  // the keys of the messages
  // The lease's key, and the due time or the message's key.
  std::vector<std::pair<Key, Key>> leases;
};

}  // namespace tarry::bench
