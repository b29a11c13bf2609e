#include "comparison/stamp.h"

#include <fmt/format.h>

#include <charconv>

#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kNumberDigits = 12;
constexpr std::size_t kDueDigits = 14;

template <typename Number>
Number read(std::string_view text) {
  Number number = 0;
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  must(error == std::errc() && end == text.data() + text.size(), "a payload comes back as it went");
  return number;
}

}  // namespace

Stamp stamp_of(std::string_view payload) {
  must(payload.size() == kStampedSize, "a payload comes back whole");
  return {read<std::uint64_t>(payload.substr(0, kNumberDigits)),
          read<std::int64_t>(payload.substr(kNumberDigits + 1, kDueDigits))};
}

void StampedBatch::clear() {
  texts_.clear();
  messages_.clear();
}

const Message& StampedBatch::add(std::uint64_t number, std::int64_t due_ms) {
  std::string& text =
      texts_.emplace_back(fmt::format("{:0{}} {:0{}} ", number, kNumberDigits, due_ms, kDueDigits));
  while (text.size() < kStampedSize) {
    text.push_back(static_cast<char>('a' + (number + text.size() * 7) % 26));
  }
  Message& message = messages_.emplace_back();
  message.payload = text;
  message.due_ms = due_ms;
  message.key = std::string_view(text).substr(0, kNumberDigits);
  return message;
}

}  // namespace tarry::bench
