// What a front over HTTP lets in.
//
// Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/time.h>

namespace tarry::http_session {

/// The name under which requests without a route are counted.
inline constexpr std::string_view kNoRoute = "none";

struct Options {
  /// Host names and addresses that clients may use, besides localhost, the loopback addresses and
  /// the address that they connect to; IPv6 addresses as `check_sender` wants them. A browser that
  /// was lured to another host name with this address is refused.
  std::vector<std::string> hosts = {};

  std::uint32_t max_head_bytes = 16 * 1024;  // longer: 431
  // From the first byte to the end of the head, otherwise 408. On a new connection it is also the
  // time in which the first byte must come.
  Millis head_deadline = std::chrono::seconds(30);
  Millis body_deadline = std::chrono::seconds(30);  // from the end of the head, otherwise 408
};

}  // namespace tarry::http_session
