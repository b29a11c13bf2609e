// Handle: a message's place in its shard, and the stages of its life. Records, tokens and the
// shard's state name a message by it.
//
// Plain values.
#pragma once

#include <cstdint>

namespace tarry::embedded {

using Handle = std::uint32_t;
inline constexpr Handle kNoHandle = 0xFFFF'FFFF;
inline constexpr Handle kMaxHandle = 0x7FFF'FFFF;  // the wheel's limit

enum class Stage : std::uint8_t { free, scheduled, ready, leased, dead, remembered };

}  // namespace tarry::embedded
