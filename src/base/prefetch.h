// prefetch: asks the processor for bytes that will be read soon, so that the misses of many of them
// overlap. Does nothing where they cannot be read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tarry::base {

/// The cache line in which this lies.
inline void prefetch_line(const void* at) noexcept {
  __builtin_prefetch(at);
  // To g++ a function that does nothing else has no effect, and calls of it are left out, as are
  // calls of those that call it.
  asm volatile("");
}

/// Of long ones only the beginning: the processor sees for itself that it goes on.
inline void prefetch(std::string_view bytes) noexcept {
  constexpr std::size_t kLine = 64;
  const char* const end = bytes.data() + std::min(bytes.size(), 8 * kLine);
  for (const char* at = bytes.data(); at < end; at += kLine) prefetch_line(at);
  if (!bytes.empty()) prefetch_line(end - 1);
}

}  // namespace tarry::base
