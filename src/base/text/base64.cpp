#include "base/text/base64.h"

#include <array>
#include <cstdint>

#include "base/text/text.h"

namespace tarry::base {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::uint8_t kForeign = 0xFF;
using Values = std::array<std::uint8_t, 256>;

constexpr Values values_of(std::string_view alphabet) {
  Values values{};
  values.fill(kForeign);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr Values kStandardValues = values_of(kStandard);
constexpr Values kUrlSafeValues = values_of(kUrlSafe);

void append_encoded(std::string& out, std::string_view bytes, std::string_view alphabet,
                    bool padded) {
  const std::size_t left = bytes.size() % 3;
  const std::size_t from = out.size();
  out.resize(from + bytes.size() / 3 * 4 + (left == 0 ? 0 : padded ? 4 : left + 1), '=');
  char* to = out.data() + from;
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return static_cast<unsigned char>(bytes[i]);
  };
  std::size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const std::uint32_t group = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    *to++ = alphabet[group >> 18];
    *to++ = alphabet[group >> 12 & 63];
    *to++ = alphabet[group >> 6 & 63];
    *to++ = alphabet[group & 63];
  }
  if (left == 0) return;
  const std::uint32_t group = byte(at) << 16 | (left == 2 ? byte(at + 1) << 8 : 0);
  *to++ = alphabet[group >> 18];
  *to++ = alphabet[group >> 12 & 63];
  if (left == 2) *to = alphabet[group >> 6 & 63];
}

Unexpected refuse(std::string_view text, std::size_t at, std::string_view why) {
  return {ErrorCode::invalid_argument, "base64 " + quoted(text) + ": " + std::string(why) +
                                           " at position " + std::to_string(at)};
}

// `digits` is the text without its padding.
Result<std::string> decode(std::string_view text, std::string_view digits, const Values& values) {
  std::string bytes(digits.size() / 4 * 3, '\0');
  std::uint32_t group = 0;
  int held = 0;  // bits in `group` that are not written yet
  std::size_t at = 0;
  // Decodes four characters at a time, as long as all of them are digits.
  char* to = bytes.data();
  const auto value = [&](std::size_t i) -> std::uint32_t {
    return values[static_cast<unsigned char>(digits[i])];
  };
  for (; at + 4 <= digits.size(); at += 4) {
    const std::uint32_t four[] = {value(at), value(at + 1), value(at + 2), value(at + 3)};
    if ((four[0] | four[1] | four[2] | four[3]) > 63) break;
    const std::uint32_t whole = four[0] << 18 | four[1] << 12 | four[2] << 6 | four[3];
    *to++ = static_cast<char>(whole >> 16);
    *to++ = static_cast<char>(whole >> 8 & 0xFF);
    *to++ = static_cast<char>(whole & 0xFF);
  }
  bytes.resize(at / 4 * 3);
  for (; at < digits.size(); ++at) {
    const std::uint32_t digit = value(at);
    if (digit == kForeign)
      return refuse(text, at, quoted(digits.substr(at, 1)) + " is not allowed");
    group = group << 6 | digit;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(group >> held & 0xFF);
    }
  }
  if (held == 6) return refuse(text, digits.size() - 1, "a single character is left over");
  if ((group & ((1U << held) - 1)) != 0) {
    return refuse(text, digits.size() - 1, "the unused bits are not zero");
  }
  return bytes;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  append_encoded(text, bytes, kStandard, true);
  return text;
}

std::string base64url_encode(std::string_view bytes) {
  std::string text;
  append_base64url(text, bytes);
  return text;
}

void append_base64url(std::string& out, std::string_view bytes) {
  append_encoded(out, bytes, kUrlSafe, false);
}

Result<std::string> base64_decode(std::string_view text) {
  std::string_view digits = text;
  // Removes two at most: decode() reports a third one as a character that is not allowed.
  for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
  Result<std::string> bytes = decode(text, digits, kStandardValues);
  if (bytes && text.size() % 4 != 0) {
    return refuse(text, text.size(), "the padding is missing or too long");
  }
  return bytes;
}

Result<std::string> base64url_decode(std::string_view text) {
  return decode(text, text, kUrlSafeValues);
}

}  // namespace tarry::base
