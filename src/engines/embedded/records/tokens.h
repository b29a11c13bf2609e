// Receipts and generated keys, as text. Both name a shard, a slot there and the id that must be
// found in the slot. So neither needs an index. A receipt also has the number of the claim: so the
// receipt of an earlier claim is refused.
//
//   receipt   "r" + 30 of base64url: store tag (32), shard (16), handle (32), id (64), claims (32)
//   generated key  "_" + 24 of base64url: store tag (32), shard (16), handle (32), id (64)
//
// Pure functions. Because of the store tag, tokens of another store mean nothing here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engines/embedded/records/handle.h"

namespace tarry::embedded {

inline constexpr std::size_t kReceiptSize = 31;
inline constexpr std::size_t kGeneratedKeySize = 25;

struct Receipt {
  std::uint32_t store_tag = 0;
  std::uint16_t shard = 0;
  Handle handle = kNoHandle;
  std::uint64_t id = 0;
  std::uint32_t claims = 0;
  friend bool operator==(const Receipt&, const Receipt&) = default;
};

struct GeneratedKey {
  std::uint32_t store_tag = 0;
  std::uint16_t shard = 0;
  Handle handle = kNoHandle;
  std::uint64_t id = 0;
  friend bool operator==(const GeneratedKey&, const GeneratedKey&) = default;
};

[[nodiscard]] std::array<char, kReceiptSize> spell(const Receipt& receipt) noexcept;
[[nodiscard]] std::array<char, kGeneratedKeySize> spell(const GeneratedKey& key) noexcept;

/// Nothing for text that is no receipt.
[[nodiscard]] std::optional<Receipt> parse_receipt(std::string_view text) noexcept;
/// Nothing for text that is no generated key of any store.
[[nodiscard]] std::optional<GeneratedKey> parse_generated_key(std::string_view text) noexcept;

}  // namespace tarry::embedded
