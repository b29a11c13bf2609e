// What a disk can do: reads of a page from anywhere in a file, past the page cache.
#pragma once

#include <cstdint>
#include <string>

namespace tarry::bench {

/// A second, with 64 of them under way, in a file of so many bytes below `directory`.
[[nodiscard]] double random_reads_per_second(const std::string& directory, std::uint64_t bytes);

}  // namespace tarry::bench
