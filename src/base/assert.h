// TARRY_ASSERT: a broken invariant of our own code aborts, in release too. Bytes from outside are
// never asserted on: their decoders return errors.
#pragma once

namespace tarry::base {

/// Prints one line to stderr and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace tarry::base

#define TARRY_ASSERT(condition)                        \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::tarry::base::assertion_failed(#condition, __FILE__, __LINE__))
