// For tests that try everything there is: all of it in a plain build; under a sanitizer, where each
// try takes many times as long, every 31st.
#pragma once

#include <cstdint>

namespace tarry::embedded::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr std::uint64_t kTryEvery = 31;
#else
inline constexpr std::uint64_t kTryEvery = 1;
#endif
#else
inline constexpr std::uint64_t kTryEvery = 1;
#endif

}  // namespace tarry::embedded::test
