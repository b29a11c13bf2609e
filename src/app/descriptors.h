// File descriptors: how many this process may have open, and who gets them.
//
// Thread safety: pure, but for raise_descriptor_limit, which is the process's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarry::app {

/// Raises the soft limit to the hard one, and answers the limit that then holds.
std::uint64_t raise_descriptor_limit() noexcept;

/// How many connections a server may take, at most `wanted`, at least 1. A connection that idles
/// must not keep the store from opening its next file: of `limit` descriptors the greater of a half
/// and 64 is left to it, and a fifth of the rest to clients that are told there is no room.
[[nodiscard]] std::size_t connections_within(std::uint64_t limit, std::size_t wanted) noexcept;

}  // namespace tarry::app
