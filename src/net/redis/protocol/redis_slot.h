// The slot of a key in a Redis cluster (cluster specification: CRC16, XMODEM's, of the key or of
// the text between its first braces, modulo 16384).
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace tarry::net {

inline constexpr std::uint16_t kRedisSlots = 16384;

[[nodiscard]] std::uint16_t redis_slot(std::string_view key) noexcept;

}  // namespace tarry::net
