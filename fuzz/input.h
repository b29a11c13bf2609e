// Input: a fuzzer's bytes, taken apart front to back. When they run out all is zero or empty, so
// that a shorter input is a simpler one.
//
// Thread safety: none. Views point into the fuzzer's bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tarry::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}

  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return left_; }

  std::uint8_t u8() noexcept {
    if (left_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  std::uint64_t u64() noexcept {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | u8();
    return value;
  }
  /// One byte for most, so that numbers meet; nine for any.
  std::uint64_t number() noexcept {
    const std::uint8_t first = u8();
    return first < 0xF0 ? first : u64();
  }
  std::int64_t i64() noexcept { return static_cast<std::int64_t>(number()); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(number()); }
  bool flag() noexcept { return (u8() & 1) != 0; }
  /// Below `count`, which is not 0.
  std::uint32_t below(std::uint32_t count) noexcept { return u8() % count; }

  std::string_view bytes(std::size_t size) noexcept {
    const std::string_view taken = left_.substr(0, std::min(size, left_.size()));
    left_.remove_prefix(taken.size());
    return taken;
  }
  /// Up to 255, their number before them.
  std::string_view text() noexcept { return bytes(u8()); }

 private:
  std::string_view left_;
};

}  // namespace tarry::fuzz
