// For tests that try everything there is: all of it in a plain build; under a sanitizer, where each
// try takes many times as long, a part.
#pragma once

#include <cstdint>

namespace tarry::embedded::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TARRY_UNDER_A_SANITIZER
#endif
#endif

/// kTryEvery: of places that are all alike each, or one in so many; odd, so that it meets every
/// offset modulo 8. kPart: of rounds, or of bytes to fill, all, or one part in so many.
#ifdef TARRY_UNDER_A_SANITIZER
inline constexpr std::uint64_t kTryEvery = 31;
inline constexpr std::uint64_t kPart = 4;
#else
inline constexpr std::uint64_t kTryEvery = 1;
inline constexpr std::uint64_t kPart = 1;
#endif

}  // namespace tarry::embedded::test
