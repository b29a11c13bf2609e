#include "engines/redis/queues/rate_bucket.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/settings/delivery_rate.h"

namespace tarry::redis {
namespace {

// Reads numbers that are separated by these characters; returns what follows the last one.
template <std::size_t N>
std::optional<std::string_view> read_numbers(std::string_view text,
                                             const std::array<char, N>& behind,
                                             std::array<std::int64_t, N>& into) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, into[i]);
    if (read.ec != std::errc() || into[i] < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (behind[i] == 0) continue;
    if (text.empty() || text.front() != behind[i]) return std::nullopt;
    text.remove_prefix(1);
  }
  return text;
}

std::int64_t level_at(std::int64_t now_ms, std::int64_t level, std::int64_t filled_ms,
                      const DeliveryRate& rate) noexcept {
  const std::int64_t full = rate.burst * rate.per.count();
  const std::int64_t elapsed = std::max<std::int64_t>(now_ms - filled_ms, 0);
  return elapsed > (full - level) / rate.count ? full : level + elapsed * rate.count;
}

}  // namespace

std::string spell_rate(const DeliveryRate& rate) {
  if (rate == DeliveryRate()) return "0";
  return std::to_string(rate.count) + "p" + std::to_string(rate.per.count()) + "b" +
         std::to_string(rate.burst);
}

DeliveryRate read_rate(std::string_view text) noexcept {
  std::array<std::int64_t, 3> numbers{};
  const auto rest = read_numbers<3>(text, {'p', 'b', 0}, numbers);
  if (!rest || !rest->empty()) return {};
  for (const std::int64_t number : {numbers[0], numbers[2]}) {
    if (number > INT32_MAX) return {};
  }
  const DeliveryRate rate{static_cast<std::uint32_t>(numbers[0]), Millis(numbers[1]),
                          static_cast<std::uint32_t>(numbers[2])};
  return core::is_delivery_rate(rate) ? rate : DeliveryRate();
}

std::optional<std::int64_t> next_token_ms(const DeliveryRate& rate, std::string_view bucket,
                                          std::int64_t now_ms) noexcept {
  std::array<std::int64_t, 2> numbers{};
  const auto old_rate = read_numbers<2>(bucket, {' ', ' '}, numbers);
  if (!old_rate || rate == DeliveryRate()) return std::nullopt;
  auto& [level, filled_ms] = numbers;
  const std::int64_t per = rate.per.count();
  if (const DeliveryRate old = read_rate(*old_rate); old != rate) {
    if (old == DeliveryRate()) return std::nullopt;
    level = level_at(now_ms, level, filled_ms, old);
    filled_ms = now_ms;
    level = std::min<std::int64_t>(level / old.per.count(), rate.burst) * per;
  }
  const std::int64_t missing = (per - level + rate.count - 1) / rate.count;  // ms
  const std::int64_t next = std::min(filled_ms, now_ms) + missing;
  return next > now_ms ? std::optional(next) : std::nullopt;
}

}  // namespace tarry::redis
