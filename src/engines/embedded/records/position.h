// Where a message's full record lies in its shard's journal, in 64 bits: segment (24), offset (28),
// size class (12). The size class is rounded up, by at most 3 bytes or 1/128. That is exact enough
// to read the record in one go and to count live bytes.
//
// Plain value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tarry::embedded {

inline constexpr std::uint64_t kMaxSegmentBytes = 256ull << 20;  // 28 bits of offset

class Position {
 public:
  constexpr Position() noexcept = default;
  constexpr Position(std::uint64_t segment, std::uint64_t offset, std::uint64_t size) noexcept
      : raw_((segment & kSegmentMask) << 40 | offset << 12 | size_class(size)) {}

  /// The segment's number. Only its low 24 bits are kept, so `newest`, the number of the newest
  /// segment, must be given: the result is the highest number up to `newest` with these bits.
  [[nodiscard]] constexpr std::uint64_t segment(std::uint64_t newest) const noexcept {
    return newest - ((newest - (raw_ >> 40)) & kSegmentMask);
  }
  [[nodiscard]] constexpr std::uint64_t offset() const noexcept { return raw_ >> 12 & 0xFFF'FFFF; }
  /// Bytes, rounded up to the size class.
  [[nodiscard]] constexpr std::uint64_t size() const noexcept {
    const std::uint64_t size_class = raw_ & 0xFFF;
    if (size_class < kFloats) return size_class * kUnit;
    return (128 + (size_class & 0x7F)) << ((size_class >> 7 & 0xF) + kLeastShift);
  }
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept { return raw_; }

  friend constexpr bool operator==(Position, Position) noexcept = default;

 private:
  static constexpr std::uint64_t kSegmentMask = 0xFF'FFFF;

  // Below 8 KiB: units of 4 bytes. From there on: 7 bits of mantissa after a leading one, and 4
  // bits of exponent, up to 255 << 21, about 535 MB.
  static constexpr std::uint64_t kUnit = 4;
  static constexpr std::uint64_t kFloats = 2048;
  static constexpr std::uint64_t kLeastShift = 6;

  static constexpr std::uint64_t size_class(std::uint64_t size) noexcept {
    if (size <= (kFloats - 1) * kUnit) return (size + kUnit - 1) / kUnit;
    const auto width = static_cast<std::uint64_t>(std::bit_width(size));
    std::uint64_t shift = std::max(width - 8, kLeastShift);
    std::uint64_t mantissa = (size + (1ull << shift) - 1) >> shift;
    if (mantissa > 0xFF) {
      mantissa >>= 1;
      ++shift;
    }
    return kFloats | (shift - kLeastShift) << 7 | (mantissa - 128);
  }

  std::uint64_t raw_ = 0;
};

/// A position together with the segment's full number.
struct RecordPlace {
  std::uint64_t segment = 0;
  Position position;
  friend bool operator==(const RecordPlace&, const RecordPlace&) = default;
};

}  // namespace tarry::embedded
