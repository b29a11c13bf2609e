// Where a message's full record lies in its shard's journal, in 64 bits: segment (24), offset (28),
// size class (12). The size class is a small float, rounded up: enough to read the record in one
// go and to count live bytes, at most 15 bytes or 1/128 too large.
//
// Plain value.
#pragma once

#include <bit>
#include <cstdint>

namespace tarry::embedded {

inline constexpr std::uint64_t kMaxSegmentBytes = 256ull << 20;  // 28 bits of offset

class Position {
 public:
  constexpr Position() noexcept = default;
  constexpr Position(std::uint64_t segment, std::uint64_t offset, std::uint64_t size) noexcept
      : raw_((segment & kSegmentMask) << 40 | offset << 12 | size_class(size)) {}

  /// The segment's number, of which 24 bits are kept: the window of live segments ends at `newest`.
  [[nodiscard]] constexpr std::uint64_t segment(std::uint64_t newest) const noexcept {
    return newest - ((newest - (raw_ >> 40)) & kSegmentMask);
  }
  [[nodiscard]] constexpr std::uint64_t offset() const noexcept { return raw_ >> 12 & 0xFFF'FFFF; }
  /// Bytes, rounded up to the size class.
  [[nodiscard]] constexpr std::uint64_t size() const noexcept {
    const std::uint64_t size_class = raw_ & 0xFFF;
    return (size_class & 0xFF) << (size_class >> 8) << 4;
  }
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept { return raw_; }

  friend constexpr bool operator==(Position, Position) noexcept = default;

 private:
  static constexpr std::uint64_t kSegmentMask = 0xFF'FFFF;

  // 8 bits of mantissa, 4 of exponent, units of 16 bytes: up to 255 << 15 << 4, about 133 MB.
  static constexpr std::uint64_t size_class(std::uint64_t size) noexcept {
    std::uint64_t mantissa = (size + 15) >> 4;
    std::uint64_t exponent = 0;
    if (mantissa > 0xFF) {
      exponent = static_cast<std::uint64_t>(std::bit_width(mantissa)) - 8;
      mantissa = (mantissa + (1ull << exponent) - 1) >> exponent;
      if (mantissa > 0xFF) {
        mantissa >>= 1;
        ++exponent;
      }
    }
    return exponent << 8 | mantissa;
  }

  std::uint64_t raw_ = 0;
};

}  // namespace tarry::embedded
