#include "engines/redis/records/receipt.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/text/base64.h"

namespace tarry::redis {
namespace {

constexpr std::uint8_t kReceiptVersion = 1;
constexpr std::uint8_t kHasPast = 0x80;

std::uint32_t check_of_receipt(std::string_view bytes, std::uint64_t secret) noexcept {
  return static_cast<std::uint32_t>(base::keyed_hash(bytes, secret));
}

}  // namespace

std::string claim_name(const Receipt& receipt) {
  return std::to_string(receipt.claimed_ms) + "-" + std::to_string(receipt.claim);
}

ReceiptSpeller::ReceiptSpeller(const Receipt& receipt, std::uint64_t secret) : secret_(secret) {
  base::ByteWriter writer(bytes_);
  writer.u8(kReceiptVersion);
  writer.u32(receipt.queue);
  writer.u16(static_cast<std::uint16_t>(receipt.shard));
  writer.u64(receipt.claimed_ms);
  writer.u64(receipt.claim);
  writer.u16(static_cast<std::uint16_t>(receipt.taken));
  common_ = bytes_.size();
}

void ReceiptSpeller::append(std::string& out, std::string_view member, bool has_past) {
  bytes_.resize(common_);
  bytes_[0] = static_cast<char>(kReceiptVersion | (has_past ? kHasPast : 0));
  base::ByteWriter writer(bytes_);
  writer.u16(static_cast<std::uint16_t>(member.size()));  // to notice a text that was cut
  writer.bytes(member);
  writer.u32(check_of_receipt(bytes_, secret_));
  base::append_base64url(out, bytes_);
}

std::optional<Receipt> parse_receipt(std::string_view text, std::uint64_t secret) {
  const auto bytes = base::base64url_decode(text);
  if (!bytes) return std::nullopt;
  base::ByteReader reader(*bytes);
  Receipt receipt;
  std::uint8_t version = 0;
  std::uint16_t shard = 0;
  std::uint16_t taken = 0;
  std::uint16_t size = 0;
  std::uint32_t check = 0;
  std::string_view member;
  if (!reader.u8(version) || !reader.u32(receipt.queue) || !reader.u16(shard) ||
      !reader.u64(receipt.claimed_ms) || !reader.u64(receipt.claim) || !reader.u16(taken) ||
      !reader.u16(size) || !reader.bytes(size, member) || size == 0 || !reader.u32(check) ||
      reader.remaining() > 0 || (version & ~kHasPast) != kReceiptVersion) {
    return std::nullopt;
  }
  receipt.has_past = (version & kHasPast) != 0;
  receipt.shard = shard;
  receipt.taken = taken;
  receipt.member = member;
  receipt.is_ours =
      check ==
      check_of_receipt(std::string_view(*bytes).substr(0, bytes->size() - sizeof check), secret);
  return receipt;
}

}  // namespace tarry::redis
