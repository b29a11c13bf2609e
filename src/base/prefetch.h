// prefetch: asks the processor for bytes that will be read soon, so that the misses of many of them
// overlap. Does nothing if they cannot be read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tarry::base {

/// The cache line in which this lies.
inline void prefetch_line(const void* at) noexcept {
  __builtin_prefetch(at);
  // g++ treats a function that does nothing else as one without an effect, and drops calls to it
  // and to its callers.
  asm volatile("");
}

/// Of long bytes only the beginning: the processor itself notices that the read continues.
inline void prefetch(std::string_view bytes) noexcept {
  constexpr std::size_t kLine = 64;
  const char* const end = bytes.data() + std::min(bytes.size(), 8 * kLine);
  for (const char* at = bytes.data(); at < end; at += kLine) prefetch_line(at);
  if (!bytes.empty()) prefetch_line(end - 1);
}

}  // namespace tarry::base
