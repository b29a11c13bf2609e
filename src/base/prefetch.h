// prefetch: tells the processor which bytes will be read soon, so that it can load many of them at
// the same time. Harmless if the address cannot be read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tarry::base {

/// Prefetches the cache line that contains this address.
inline void prefetch_line(const void* at) noexcept {
  __builtin_prefetch(at);
  // Without this line g++ thinks that the function has no effect, and removes the calls of it and
  // of its callers.
  asm volatile("");
}

/// Prefetches only the beginning of long byte strings: the processor itself notices that the
/// reading continues.
inline void prefetch(std::string_view bytes) noexcept {
  constexpr std::size_t kLine = 64;
  const char* const end = bytes.data() + std::min(bytes.size(), 8 * kLine);
  for (const char* at = bytes.data(); at < end; at += kLine) prefetch_line(at);
  if (!bytes.empty()) prefetch_line(end - 1);
}

}  // namespace tarry::base
