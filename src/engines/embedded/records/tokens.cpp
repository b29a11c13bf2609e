#include "engines/embedded/records/tokens.h"

#include <cstring>

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

// The two letters for each 12 bits.
constexpr std::array<std::array<char, 2>, 4096> make_pairs() {
  std::array<std::array<char, 2>, 4096> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
  return pairs;
}
constexpr auto kPairs = make_pairs();

constexpr std::size_t kReceiptBytes = 22;
constexpr std::size_t kMadeKeyBytes = 18;

std::uint32_t byte_at(const char* in) noexcept { return static_cast<unsigned char>(*in); }

// Base64url without padding, to and from places of fixed size, so that no message needs an
// allocation.
template <std::size_t Bytes>
void encode(const char* in, char* out) noexcept {
  static_assert(Bytes % 3 != 2);
  for (std::size_t i = 0; i < Bytes / 3; ++i, in += 3, out += 4) {
    const std::uint32_t bits = byte_at(in) << 16 | byte_at(in + 1) << 8 | byte_at(in + 2);
    std::memcpy(out, kPairs[bits >> 12].data(), 2);
    std::memcpy(out + 2, kPairs[bits & 0xFFF].data(), 2);
  }
  if constexpr (Bytes % 3 == 1) std::memcpy(out, kPairs[byte_at(in) << 4].data(), 2);
}

// An invalid letter has its top bit set, and no shift below hides that bit.
template <std::size_t Bytes>
bool decode(const char* in, char* out) noexcept {
  const auto value = [](const char* at) -> std::uint32_t {
    return kValues[static_cast<unsigned char>(*at)];
  };
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < Bytes / 3; ++i, in += 4) {
    const std::uint32_t a = value(in);
    const std::uint32_t b = value(in + 1);
    const std::uint32_t c = value(in + 2);
    const std::uint32_t d = value(in + 3);
    bad |= a | b | c | d;
    const std::uint32_t bits = a << 18 | b << 12 | c << 6 | d;
    *out++ = static_cast<char>(bits >> 16 & 0xFF);
    *out++ = static_cast<char>(bits >> 8 & 0xFF);
    *out++ = static_cast<char>(bits & 0xFF);
  }
  if constexpr (Bytes % 3 == 1) {
    const std::uint32_t a = value(in);
    const std::uint32_t b = value(in + 1);
    bad |= a | b;
    *out = static_cast<char>((a << 2 | b >> 4) & 0xFF);
    if ((b & 0xF) != 0) return false;  // unused bits are zero, so each token has one spelling
  }
  return (bad & 0x80) == 0;
}

// Decodes text of `size` characters that begins with `letter`. False if the text is not of this
// form.
template <std::size_t Bytes>
bool decode_after(char letter, std::string_view text, std::size_t size, char (&raw)[Bytes]) {
  return text.size() == size && text[0] == letter && decode<Bytes>(text.data() + 1, raw);
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

std::array<char, kGeneratedKeySize> spell(const GeneratedKey& key) noexcept {
  char raw[kMadeKeyBytes];
  put_place(raw, key.store_tag, key.shard, key.handle, key.id);
  std::array<char, kGeneratedKeySize> text{};
  text[0] = '_';
  encode<kMadeKeyBytes>(raw, text.data() + 1);
  return text;
}

std::optional<Receipt> parse_receipt(std::string_view text) noexcept {
  char raw[kReceiptBytes];
  if (!decode_after('r', text, kReceiptSize, raw)) return std::nullopt;
  return Receipt{base::load_u32(raw), base::load_u16(raw + 4), base::load_u32(raw + 6),
                 base::load_u64(raw + 10), base::load_u32(raw + 18)};
}

std::optional<GeneratedKey> parse_generated_key(std::string_view text) noexcept {
  char raw[kMadeKeyBytes];
  if (!decode_after('_', text, kGeneratedKeySize, raw)) return std::nullopt;
  return GeneratedKey{base::load_u32(raw), base::load_u16(raw + 4), base::load_u32(raw + 6),
                      base::load_u64(raw + 10)};
}

}  // namespace tarry::embedded
