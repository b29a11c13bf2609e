#include "engines/rabbitmq/ladder/ladder.h"

#include <bit>

#include "base/text/text.h"

namespace tarry::rabbitmq {
namespace {

constexpr std::uint32_t kMostUnits = (std::uint32_t{1} << Ladder::kRungs) - 1;
constexpr std::int64_t kShortMs = 1;  // the most that one rung may end early

}  // namespace

std::int64_t Ladder::top_ms() const noexcept { return base_ms_ * kMostUnits - kShortMs * kRungs; }

std::optional<std::uint32_t> Ladder::units(std::int64_t delay_ms) const noexcept {
  if (delay_ms <= 0) return 0;
  if (delay_ms > top_ms()) return std::nullopt;
  auto units = static_cast<std::uint32_t>((delay_ms + base_ms_ - 1) / base_ms_);
  while (units * base_ms_ - kShortMs * std::popcount(units) < delay_ms) ++units;
  return units;
}

int Ladder::first_rung(std::uint32_t units) noexcept {
  return static_cast<int>(std::bit_width(units)) - 1;
}

std::string Ladder::routing_key(std::uint32_t units, std::string_view queue) {
  std::string key;
  key.reserve(2 * kRungs + queue.size());
  for (int rung = kRungs - 1; rung >= 0; --rung) {
    key += (units >> rung & 1) != 0 ? "1." : "0.";
  }
  return key.append(queue);
}

std::string Ladder::pattern(int rung, bool bit) {
  std::string pattern;
  for (int other = kRungs - 1; other > rung; --other) pattern += "*.";
  return pattern.append(bit ? "1.#" : "0.#");
}

std::string Ladder::pattern(std::string_view queue) {
  std::string pattern;
  for (int rung = 0; rung < kRungs; ++rung) pattern += "*.";
  return pattern.append(queue);
}

Error over_the_top(const Ladder& ladder, std::int64_t delay_ms) {
  return {ErrorCode::invalid_argument, "delay " + base::format_duration_ms(delay_ms) +
                                           " is over the ladder's top, " +
                                           base::format_duration_ms(ladder.top_ms())};
}

}  // namespace tarry::rabbitmq
