// Fixed-size little-endian integers in byte buffers: the formats on disk and the receipts are made
// of them. Buffers are std::string and std::string_view throughout tarry.
//
// Thread safety: none; callers protect the buffer.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tarry::base {

namespace detail {

template <std::unsigned_integral T>
[[nodiscard]] constexpr T little_endian(T value) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    return value;
  } else {
    T swapped = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      swapped = static_cast<T>((swapped << 8) | ((value >> (8 * i)) & 0xFF));
    }
    return swapped;
  }
}

template <std::unsigned_integral T>
[[nodiscard]] inline T load(const char* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return little_endian(value);
}

template <std::unsigned_integral T>
inline void store(char* to, T value) noexcept {
  value = little_endian(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace detail

// `from` and `to` need no alignment; the caller has checked that the bytes are there.
[[nodiscard]] inline std::uint16_t load_u16(const char* from) noexcept {
  return detail::load<std::uint16_t>(from);
}
[[nodiscard]] inline std::uint32_t load_u32(const char* from) noexcept {
  return detail::load<std::uint32_t>(from);
}
[[nodiscard]] inline std::uint64_t load_u64(const char* from) noexcept {
  return detail::load<std::uint64_t>(from);
}
inline void store_u16(char* to, std::uint16_t value) noexcept { detail::store(to, value); }
inline void store_u32(char* to, std::uint32_t value) noexcept { detail::store(to, value); }
inline void store_u64(char* to, std::uint64_t value) noexcept { detail::store(to, value); }

/// Appends to a string that must outlive the writer.
struct ByteWriter {
  explicit ByteWriter(std::string& out) noexcept : out_(out) {}

  void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void u16(std::uint16_t value) { put(value); }
  void u32(std::uint32_t value) { put(value); }
  void u64(std::uint64_t value) { put(value); }
  void i64(std::int64_t value) { put(static_cast<std::uint64_t>(value)); }
  void bytes(std::string_view value) { out_.append(value); }

 private:
  template <std::unsigned_integral T>
  void put(T value) {
    char raw[sizeof(T)];
    detail::store(raw, value);
    out_.append(raw, sizeof raw);
  }

  std::string& out_;
};

/// Writes into a string that was already resized. For code that runs for every message and knows
/// the size beforehand. The string must be long enough, and must not be moved or resized meanwhile.
struct ByteFiller {
  explicit ByteFiller(char* at) noexcept : at_(at) {}

  void u8(std::uint8_t value) noexcept { *at_++ = static_cast<char>(value); }
  void u16(std::uint16_t value) noexcept { put(value); }
  void u32(std::uint32_t value) noexcept { put(value); }
  void u64(std::uint64_t value) noexcept { put(value); }
  void i64(std::int64_t value) noexcept { put(static_cast<std::uint64_t>(value)); }
  void bytes(std::string_view value) noexcept {
    if (!value.empty()) std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }

 private:
  template <std::unsigned_integral T>
  void put(T value) noexcept {
    detail::store(at_, value);
    at_ += sizeof(T);
  }

  char* at_;
};

/// Reads from the front of a view, whose bytes must outlive the reader. If too few bytes are left,
/// a getter returns false and changes neither its argument nor the reader.
struct ByteReader {
  explicit ByteReader(std::string_view in) noexcept : in_(in) {}

  [[nodiscard]] bool u8(std::uint8_t& value) noexcept { return get(value); }
  [[nodiscard]] bool u16(std::uint16_t& value) noexcept { return get(value); }
  [[nodiscard]] bool u32(std::uint32_t& value) noexcept { return get(value); }
  [[nodiscard]] bool u64(std::uint64_t& value) noexcept { return get(value); }
  [[nodiscard]] bool i64(std::int64_t& value) noexcept {
    std::uint64_t raw = 0;
    if (!get(raw)) return false;
    value = static_cast<std::int64_t>(raw);
    return true;
  }
  /// `value` points into the input: nothing is copied.
  [[nodiscard]] bool bytes(std::size_t n, std::string_view& value) noexcept {
    if (in_.size() < n) return false;
    value = in_.substr(0, n);
    in_.remove_prefix(n);
    return true;
  }
  [[nodiscard]] std::size_t remaining() const noexcept { return in_.size(); }
  /// What is left; it stays to be read.
  [[nodiscard]] std::string_view rest() const noexcept { return in_; }

 private:
  template <std::unsigned_integral T>
  [[nodiscard]] bool get(T& value) noexcept {
    if (in_.size() < sizeof(T)) return false;
    value = detail::load<T>(in_.data());
    in_.remove_prefix(sizeof(T));
    return true;
  }

  std::string_view in_;
};

}  // namespace tarry::base
