#include "core/settings/delivery_rate.h"

#include <algorithm>

#include "base/text/text.h"
#include "core/limits.h"

namespace tarry::core {
namespace {

constexpr std::string_view kNoRate = "none";
constexpr std::string_view kBurst = " burst ";

Error refuse_rate(std::string_view text, const std::string& why) {
  return {ErrorCode::invalid_argument, "rate " + base::quoted(text) + ": " + why};
}

bool is_count(std::uint32_t count) noexcept { return count >= 1 && count <= kMaxRateCount; }

}  // namespace

Result<DeliveryRate> parse_delivery_rate(std::string_view text) {
  if (text == kNoRate) return DeliveryRate();
  const std::string most = std::to_string(kMaxRateCount);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return refuse_rate(text, R"(it must be like "100/1s", "100/1s burst 20", or "none")");
  }
  const std::size_t burst_at = std::min(text.find(kBurst), text.size());
  const auto count = base::parse_u64(text.substr(0, slash), "count", 1, kMaxRateCount);
  if (!count) return refuse_rate(text, "the count must be from 1 to " + most);
  if (burst_at < slash) return refuse_rate(text, "the burst comes after the time");
  const auto per = base::parse_duration_ms(text.substr(slash + 1, burst_at - slash - 1));
  if (!per) return refuse_rate(text, per.error().message);
  if (*per < 1 || *per > kMaxRatePerMs) {
    return refuse_rate(text, "the time must be from 1ms to 7d");
  }
  DeliveryRate rate{static_cast<std::uint32_t>(*count), Millis(*per),
                    static_cast<std::uint32_t>(*count)};
  if (burst_at == text.size()) return rate;
  const auto burst =
      base::parse_u64(text.substr(burst_at + kBurst.size()), "burst", 1, kMaxRateCount);
  if (!burst) return refuse_rate(text, "the burst must be from 1 to " + most);
  rate.burst = static_cast<std::uint32_t>(*burst);
  return rate;
}

std::string delivery_rate_text(DeliveryRate rate) {
  if (rate == DeliveryRate()) return std::string(kNoRate);
  std::string text = std::to_string(rate.count) + "/" + base::format_duration_ms(rate.per.count());
  if (rate.burst != rate.count) text += std::string(kBurst) + std::to_string(rate.burst);
  return text;
}

bool is_delivery_rate(DeliveryRate rate) noexcept {
  if (rate == DeliveryRate()) return true;
  return is_count(rate.count) && is_count(rate.burst) && rate.per.count() >= 1 &&
         rate.per.count() <= kMaxRatePerMs;
}

}  // namespace tarry::core
