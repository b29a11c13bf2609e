// LayoutSpec: which delay queue of somebody else's a store is, as its URL says.
// docs/formats/redis-layouts.md describes the layouts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tarry::redis {

enum class Layout : std::uint8_t { plain, hash, redisson };

[[nodiscard]] constexpr std::string_view to_string(Layout layout) noexcept {
  switch (layout) {
    case Layout::plain: return "plain";
    case Layout::hash: return "hash";
    case Layout::redisson: return "redisson";
  }
  return "unknown";
}

/// How Redisson's codec wrote the values.
enum class Decode : std::uint8_t { raw, string, json };

/// Names of keys may hold {queue}, the queue's name, and once {A..B}, as many keys.
struct LayoutSpec {
  Layout layout = Layout::plain;
  std::string zset;             // plain and hash; empty: {queue}
  std::string hash;             // hash only, which needs it
  std::string list;             // redisson only; empty: {queue}
  std::string queue;            // of keys without {queue}; empty: named by the keys
  bool seconds = false;         // scores are seconds, not milliseconds; plain and hash
  Decode decode = Decode::raw;  // redisson
  bool through_list = false;    // redisson: what is due goes through the list first
};

}  // namespace tarry::redis
