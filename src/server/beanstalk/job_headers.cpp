#include "server/beanstalk/job_headers.h"

#include <algorithm>
#include <charconv>

#include "core/limits.h"
#include "core/rules/headers.h"

namespace tarry::beanstalk {
namespace {

constexpr std::string_view kTtr = "beanstalk-ttr";
constexpr std::string_view kDelay = "beanstalk-delay";

std::uint32_t seconds_in(std::string_view text, std::uint32_t otherwise) noexcept {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

std::uint32_t find(const Headers& headers, std::string_view name,
                   std::uint32_t otherwise) noexcept {
  for (const auto& header : headers) {
    if (header.name == name) return seconds_in(header.value, otherwise);
  }
  return otherwise;
}

}  // namespace

std::string job_headers(std::uint32_t ttr_s, std::uint32_t delay_s) {
  Headers headers;
  headers.push_back({std::string(kTtr), std::to_string(ttr_s)});
  if (delay_s > 0) headers.push_back({std::string(kDelay), std::to_string(delay_s)});
  return core::encode_headers(headers).value_or(std::string());
}

std::uint32_t ttr_of(std::string_view encoded) noexcept {
  const auto found = core::find_header(encoded, kTtr);
  return std::max(1u, found ? seconds_in(*found, kForeignTtr) : kForeignTtr);
}

std::uint32_t ttr_of(const Headers& headers) noexcept {
  return std::max(1u, find(headers, kTtr, kForeignTtr));
}

std::uint32_t delay_in(std::string_view encoded) noexcept {
  const auto found = core::find_header(encoded, kDelay);
  return found ? seconds_in(*found, 0) : 0;
}

std::uint32_t delay_of(const Headers& headers) noexcept { return find(headers, kDelay, 0); }

Millis lease_of(std::uint32_t ttr_s) noexcept {
  return Millis(std::min(std::int64_t{ttr_s} * 1000, core::kMaxLeaseMs));
}

Millis delay_of(std::uint32_t delay_s) noexcept {
  return Millis(std::min(std::int64_t{delay_s} * 1000, core::kMaxDelayMs));
}

}  // namespace tarry::beanstalk
