#include "server/sqs/queues/message_text.h"

#include <array>
#include <cstdio>

namespace tarry::sqs {

std::string message_id(std::uint64_t id) {
  std::array<char, 37> text{};
  const auto high = static_cast<unsigned long>(id >> 32);
  const auto middle = static_cast<unsigned>((id >> 16) & 0xffffu);
  const auto low = static_cast<unsigned>(id & 0xffffu);
  // Version 8, variant 10: all other bits are the id's or 0.
  static_cast<void>(std::snprintf(text.data(), text.size(), "%08lx-%04x-8000-8000-00000000%04x",
                                  high, middle, low));
  return std::string(text.data());
}

std::optional<std::string_view> key_in(std::string_view handle) noexcept {
  constexpr std::string_view kBegins = "key:";
  if (!handle.starts_with(kBegins)) return std::nullopt;
  return handle.substr(kBegins.size());
}

}  // namespace tarry::sqs
