// For tests that try every possibility: a plain build tries all of them. Under a sanitizer each try
// takes many times as long, so only a part is tried.
#pragma once

#include <cstdint>

namespace tarry::embedded::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TARRY_UNDER_A_SANITIZER
#endif
#endif

/// kTryEvery: tries every place, or only every 31st if all are alike. It is odd, so that it meets
/// every offset modulo 8. kPart: the rounds, or the bytes to fill, are divided by it.
#ifdef TARRY_UNDER_A_SANITIZER
inline constexpr std::uint64_t kTryEvery = 31;
inline constexpr std::uint64_t kPart = 4;
#else
inline constexpr std::uint64_t kTryEvery = 1;
inline constexpr std::uint64_t kPart = 1;
#endif

}  // namespace tarry::embedded::test
