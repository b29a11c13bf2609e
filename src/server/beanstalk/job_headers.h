// The headers in which a message keeps what beanstalkd's protocol says of a job and tarry has no
// field for: its TTR and its delay, in seconds.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/time.h>

namespace tarry::beanstalk {

/// Of messages that other protocols have pushed: the TTR with which beanstalkd's clients usually
/// put.
inline constexpr std::uint32_t kForeignTtr = 120;

/// Encoded, as core/rules/headers.h says. A delay of 0 is left out.
[[nodiscard]] std::string job_headers(std::uint32_t ttr_s, std::uint32_t delay_s);
[[nodiscard]] std::uint32_t ttr_of(std::string_view encoded) noexcept;
[[nodiscard]] std::uint32_t ttr_of(const Headers& headers) noexcept;
[[nodiscard]] std::uint32_t delay_in(std::string_view encoded) noexcept;
[[nodiscard]] std::uint32_t delay_of(const Headers& headers) noexcept;

/// The lease of a job: its TTR, but at most the longest lease.
[[nodiscard]] Millis lease_of(std::uint32_t ttr_s) noexcept;
/// The delay of a job, but at most the longest one.
[[nodiscard]] Millis delay_of(std::uint32_t delay_s) noexcept;

}  // namespace tarry::beanstalk
