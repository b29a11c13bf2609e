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
/// program's output would be written into that file. So this opens each missing one in a way that
/// reading standard input, or writing to the other two, still fails. Call it first in the program's
/// main, never in a library. Returns false if the machine has no descriptor left, or no /dev/null.
[[nodiscard]] bool secure_standard_descriptors() noexcept;

/// Whether `fd` is open for writing. Pure.
[[nodiscard]] bool is_open_for_writing(int fd) noexcept;

/// The soft limit of open files; empty if the system does not say.
[[nodiscard]] std::optional<std::uint64_t> descriptor_limit() noexcept;

/// Raises the soft limit to the hard one, and returns the limit that is then in force.
std::uint64_t raise_descriptor_limit() noexcept;

/// How many connections a server may take, at most `wanted`, at least 1. Connections must not take
/// the descriptors that the store needs for its files. So of `limit` descriptors the store keeps
/// half, at least 64. A fifth of the rest is kept for clients that are only told that the server is
/// full.
[[nodiscard]] std::size_t connections_within(std::uint64_t limit, std::size_t wanted) noexcept;

}  // namespace tarry::app
