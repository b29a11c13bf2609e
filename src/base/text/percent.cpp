#include "base/text/percent.h"

#include "base/text/ascii.h"

namespace tarry::base {

std::string percent_encoded(std::string_view bytes, std::string_view kept) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    if (is_letter(c) || is_digit(c) || kept.find(c) != std::string_view::npos) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += '%';
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace tarry::base
