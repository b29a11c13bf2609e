// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78): the checksum of everything tarry writes.
// Uses the processor's instruction if it has one, tables otherwise; the answers are the same.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tarry::base {

/// The checksum of `bytes`. Chains: crc32c(b, crc32c(a)) == crc32c(a followed by b).
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes,
                                   std::uint32_t seed = 0) noexcept;

[[nodiscard]] inline std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0) noexcept {
  return crc32c(std::as_bytes(std::span(bytes.data(), bytes.size())), seed);
}

namespace detail {

/// The table version, on any processor: the tests compare the two.
[[nodiscard]] std::uint32_t crc32c_tables(std::span<const std::byte> bytes,
                                          std::uint32_t seed) noexcept;

}  // namespace detail
}  // namespace tarry::base
