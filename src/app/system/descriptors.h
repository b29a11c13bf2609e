// File descriptors: how many this process may have open, and how they are divided.
//
// Thread safety: pure, except for secure_standard_descriptors and raise_descriptor_limit, which
// change the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tarry::app {

/// If descriptor 0, 1 or 2 is closed, the next file that is opened would get its number, and the
/// program's output would be written into that file. Opens each missing one so that a read of
/// standard input, or a write to the others, still fails. Call it first in the program's main, and
/// in no library. False: the machine has no descriptor left for that, or no /dev/null.
[[nodiscard]] bool secure_standard_descriptors() noexcept;

/// Whether `fd` is open for writing. Pure.
[[nodiscard]] bool is_open_for_writing(int fd) noexcept;

/// The soft limit of open files; empty if the system does not say.
[[nodiscard]] std::optional<std::uint64_t> descriptor_limit() noexcept;

/// Raises the soft limit to the hard one, and answers the limit that then holds.
std::uint64_t raise_descriptor_limit() noexcept;

/// How many connections a server may take, at most `wanted`, at least 1. An idle connection must
/// not keep the store from opening its next file: of `limit` descriptors the greater of a half and
/// 64 is left to the store, and a fifth of the rest to clients that are told that there is no room.
[[nodiscard]] std::size_t connections_within(std::uint64_t limit, std::size_t wanted) noexcept;

}  // namespace tarry::app
