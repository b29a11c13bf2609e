#include "engines/embedded/tokens.h"

#include "base/bytes.h"

namespace tarry::embedded {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (auto& value : values) value = 0xFF;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr auto kValues = make_values();

constexpr std::size_t kReceiptBytes = 22;
constexpr std::size_t kMadeKeyBytes = 18;

// Base64url without padding, to and from places of fixed size: no allocation a message.
template <std::size_t Bytes>
void encode(const char* in, char* out) noexcept {
  std::uint32_t bits = 0;
  int held = 0;
  for (std::size_t i = 0; i < Bytes; ++i) {
    bits = bits << 8 | static_cast<unsigned char>(in[i]);
    held += 8;
    while (held >= 6) {
      held -= 6;
      *out++ = kAlphabet[bits >> held & 63];
    }
  }
  if (held > 0) *out = kAlphabet[bits << (6 - held) & 63];
}

template <std::size_t Bytes>
bool decode(std::string_view in, char* out) noexcept {
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : in) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == 0xFF) return false;
    bits = bits << 6 | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      *out++ = static_cast<char>(bits >> held & 0xFF);
    }
  }
  return (bits & ((1u << held) - 1)) == 0;  // one spelling each: unused bits are zero
}

void put_place(char* raw, std::uint32_t tag, std::uint16_t shard, Handle handle,
               std::uint64_t id) noexcept {
  base::store_u32(raw, tag);
  base::store_u16(raw + 4, shard);
  base::store_u32(raw + 6, handle);
  base::store_u64(raw + 10, id);
}

}  // namespace

std::array<char, kReceiptSize> spell(const Receipt& receipt) noexcept {
  char raw[kReceiptBytes];
  put_place(raw, receipt.store_tag, receipt.shard, receipt.handle, receipt.id);
  base::store_u32(raw + 18, receipt.claims);
  std::array<char, kReceiptSize> text{};
  text[0] = 'r';
  encode<kReceiptBytes>(raw, text.data() + 1);
  return text;
}

std::array<char, kMadeKeySize> spell(const MadeKey& key) noexcept {
  char raw[kMadeKeyBytes];
  put_place(raw, key.store_tag, key.shard, key.handle, key.id);
  std::array<char, kMadeKeySize> text{};
  text[0] = '_';
  encode<kMadeKeyBytes>(raw, text.data() + 1);
  return text;
}

std::optional<Receipt> parse_receipt(std::string_view text) noexcept {
  char raw[kReceiptBytes + 1];
  if (text.size() != kReceiptSize || text[0] != 'r' ||
      !decode<kReceiptBytes>(text.substr(1), raw)) {
    return std::nullopt;
  }
  return Receipt{base::load_u32(raw), base::load_u16(raw + 4), base::load_u32(raw + 6),
                 base::load_u64(raw + 10), base::load_u32(raw + 18)};
}

std::optional<MadeKey> parse_made_key(std::string_view text) noexcept {
  char raw[kMadeKeyBytes + 1];
  if (text.size() != kMadeKeySize || text[0] != '_' ||
      !decode<kMadeKeyBytes>(text.substr(1), raw)) {
    return std::nullopt;
  }
  return MadeKey{base::load_u32(raw), base::load_u16(raw + 4), base::load_u32(raw + 6),
                 base::load_u64(raw + 10)};
}

}  // namespace tarry::embedded
