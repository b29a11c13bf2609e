// LayoutSpec: which foreign delay queue a store is, as its URL says. docs/formats/redis-layouts.md
// describes the layouts.
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

/// Which of Redisson's codecs wrote the values; `automatic` decides by the values.
enum class Decode : std::uint8_t { automatic, raw, string, json, kryo5, fst, marshalling };

[[nodiscard]] constexpr std::string_view to_string(Decode decode) noexcept {
  switch (decode) {
    case Decode::automatic: return "auto";
    case Decode::raw: return "raw";
    case Decode::string: return "string";
    case Decode::json: return "json";
    case Decode::kryo5: return "kryo5";
    case Decode::fst: return "fst";
    case Decode::marshalling: return "marshalling";
  }
  return "unknown";
}

/// How Redisson packs its entries: `old` until some version before 3.23, `newer` since then.
/// `automatic` decides by the entries that the queue has, or had.
enum class EntryForm : std::uint8_t { automatic, old, newer };

/// The names of keys may contain {queue}, which stands for the queue's name, and once {A..B}, which
/// stands for as many keys.
struct LayoutSpec {
  Layout layout = Layout::plain;
  std::string zset;                        // plain and hash; empty: {queue}
  std::string hash;                        // hash only; required there
  std::string list;                        // redisson only; empty: {queue}
  std::string queue;                       // if the keys have no {queue}; empty: named by the keys
  bool seconds = false;                    // scores are seconds, not milliseconds; plain and hash
  Decode decode = Decode::automatic;       // redisson
  EntryForm entry = EntryForm::automatic;  // redisson
  bool through_list = false;               // redisson: due messages go through the list first
};

}  // namespace tarry::redis
