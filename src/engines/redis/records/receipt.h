// Receipts: the claim's number on its shard, the claimed member, and a check that uses the store's
// secret. So a changed receipt, or another store's, names nothing here. Clients treat receipts as
// opaque.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarry::redis {

struct Receipt {
  std::uint32_t queue = 0;       // the queue's number
  std::uint32_t shard = 0;       // below 2^16
  std::uint64_t claimed_ms = 0;  // when the claim was made
  std::uint64_t claim = 0;       // the claim's number
  std::uint32_t taken = 0;       // messages of that claim; below 2^16
  bool has_past = false;         // the message has tallies of its own in PAST
  std::string member;
  bool is_ours = false;  // its check fits the store's secret
};

/// The claim as the scripts name it.
[[nodiscard]] std::string claim_name(const Receipt& receipt);

/// Spells the receipts of one claim. They differ only in their messages.
class ReceiptSpeller {
 public:
  /// Ignores the member and the past of `receipt`.
  ReceiptSpeller(const Receipt& receipt, std::uint64_t secret);

  /// Appends to `out`.
  void append(std::string& out, std::string_view member, bool has_past);

 private:
  std::string bytes_;
  std::size_t common_;  // how many bytes are equal in all receipts
  std::uint64_t secret_;
};

/// Nothing for text that is no receipt.
[[nodiscard]] std::optional<Receipt> parse_receipt(std::string_view text, std::uint64_t secret);

}  // namespace tarry::redis
