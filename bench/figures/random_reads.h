// The speed of the disk: reads of a page from anywhere in a file, without the page cache.
#pragma once

#include <cstdint>
#include <string>

namespace tarry::bench {

/// Reads per second, 64 at a time, in a file of `bytes` below `directory`.
[[nodiscard]] double random_reads_per_second(const std::string& directory, std::uint64_t bytes);

}  // namespace tarry::bench
