#include "engines/redis/records/member.h"

#include "base/hash.h"

namespace tarry::redis {
namespace {

constexpr char kEscape = '\x1f';
constexpr std::string_view kLetters = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kCheckSize = 4;  // bytes: with the id 80 bits, 16 letters of five

std::uint32_t check_of(std::string_view id, std::uint64_t secret) noexcept {
  return static_cast<std::uint32_t>(base::keyed_hash(id, secret));
}

constexpr std::array<std::int8_t, 256> kValues = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

void spell(std::string& out, std::string_view id, std::uint64_t secret) {
  std::array<unsigned char, kIdSize + kCheckSize> bytes{};
  for (std::size_t i = 0; i < kIdSize; ++i) bytes[i] = static_cast<unsigned char>(id[i]);
  const std::uint32_t check = check_of(id, secret);
  for (std::size_t i = 0; i < kCheckSize; ++i) {
    bytes[kIdSize + i] = static_cast<unsigned char>(check >> (8 * (kCheckSize - 1 - i)));
  }
  std::array<char, kSpelledSize> letters{};
  std::uint64_t held = 0;
  int bits = 0;
  std::size_t at = 0;
  for (const unsigned char byte : bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) letters[at++] = kLetters[(held >> (bits - 5)) & 31];
  }
  out.append(letters.data(), letters.size());
}

// Reads the id in `key` into `id`; false if it is no generated key of this store.
bool read_spelled(std::string_view key, std::uint64_t secret, IdBytes& id) noexcept {
  if (key.size() != kSpelledSize) return false;
  std::array<unsigned char, kIdSize + kCheckSize> bytes{};
  std::uint64_t held = 0;
  int bits = 0;
  std::size_t at = 0;
  for (const char c : key) {
    const int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return false;
    held = (held << 5) | static_cast<std::uint64_t>(value);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = static_cast<unsigned char>(held >> bits);
    }
  }
  std::uint32_t check = 0;
  for (std::size_t i = 0; i < kIdSize; ++i) id[i] = static_cast<char>(bytes[i]);
  for (std::size_t i = 0; i < kCheckSize; ++i) check = (check << 8) | bytes[kIdSize + i];
  const std::string_view text(id.data(), id.size());
  return is_made_member(text) && check == check_of(text, secret);
}

}  // namespace

IdBytes id_bytes(std::uint64_t id) noexcept {
  IdBytes bytes;
  for (std::size_t i = 0; i < kIdSize; ++i) {
    bytes[i] = static_cast<char>(id >> (8 * (kIdSize - 1 - i)));
  }
  return bytes;
}

std::uint64_t id_from(std::string_view bytes) noexcept {
  if (bytes.size() != kIdSize) return 0;
  std::uint64_t id = 0;
  for (const char c : bytes) id = (id << 8) | static_cast<unsigned char>(c);
  return id;
}

bool is_made_member(std::string_view member) noexcept {
  return member.size() == kIdSize && static_cast<unsigned char>(member.front()) < 0x1F;
}

std::string_view member_of(std::string_view key, std::uint64_t secret, std::string& scratch) {
  IdBytes id;
  if (read_spelled(key, secret, id)) {
    scratch.assign(id.data(), id.size());
    return scratch;
  }
  if (key.empty() || static_cast<unsigned char>(key.front()) >= 0x20) return key;
  scratch.assign(1, kEscape);
  scratch.append(key);
  return scratch;
}

void append_key(std::string& out, std::string_view member, std::uint64_t secret) {
  if (is_made_member(member)) {
    spell(out, member, secret);
  } else {
    out.append(member.starts_with(kEscape) ? member.substr(1) : member);
  }
}

}  // namespace tarry::redis
